"""Databases, registries of packages, and the machine's own services: rows of rule `extended`."""

import re
from typing import Final

from nacre.guard.rules.extended.loss import Loss

_SQL: Final = re.compile(
    r"\s*+(?:drop\s++(?:database|schema|table|keyspace|tablespace|owned)\b|truncate\s++[^\s(]"
    r"|delete\s++from\s++\S++\s*+$)",
    re.IGNORECASE,
)
_MONGO: Final = re.compile(
    r".*?\.(?:dropDatabase|drop|(?:deleteMany|remove)(?=\(\s*+(?:\{\s*+\}\s*+)?\)))\s*+\(", re.DOTALL
)
_VITAL_SERVICES: Final = (
    "ssh|sshd|networking|networkmanager|systemd-networkd|systemd-resolved|systemd-logind|systemd-journald|dbus|ufw"
    "|firewalld|iptables|nftables|auditd"
)

SERVICES: Final = (
    Loss(
        "dropdb",
        "a database would be dropped",
        spared="-i --interactive",
        match=("dropdb live", "sudo -u postgres dropdb --if-exists live"),
        not_match=("dropdb --help", "createdb live"),
    ),
    Loss(
        "mysqladmin|mariadb-admin drop",
        "a database would be dropped",
        match=("mysqladmin -u root -f drop live",),
        not_match=("mysqladmin -u root status",),
    ),
    Loss(
        "psql|mysql|mariadb|sqlite3|sqlite|duckdb|clickhouse-client|clickhouse|cqlsh|sqlcmd|cockroach|usql|pgcli|mycli|bq",
        "a table or database with its data would be lost",
        spared=":memory:",
        says=_SQL,
        match=(
            "psql -c 'DROP TABLE users'",
            "mysql -e 'DROP DATABASE live'",
            "echo 'truncate table users;' | mysql live",
            "psql <<'E'\nbegin;\ndelete from users;\nE",
            'psql --command="drop schema public cascade"',
            "docker exec db psql -U app -c 'DROP TABLE users'",
        ),
        not_match=(
            "psql -c 'select 1'",
            "psql -c \"select 'drop table users'\"",
            "psql -c 'delete from users where id = 1'",
            "psql -c 'alter table users drop column x'",
            "psql -c 'drop index users_name'",
            "psql -c \"insert into log values ('x; drop table users')\"",
            "mysql live < dump.sql",
            "sqlite3 :memory: 'drop table x'",
        ),
    ),
    Loss(
        "bq rm",
        "a dataset with its tables would be deleted",
        needs="-r",
        match=("bq rm -r -f live",),
        not_match=("bq rm live.table", "bq ls"),
    ),
    Loss(
        "mongo|mongosh",
        "a collection or database with its data would be lost",
        says=_MONGO,
        match=(
            "mongosh live --eval 'db.dropDatabase()'",
            "mongo --eval 'db.users.drop()'",
            "mongosh --eval 'db.users.deleteMany({})'",
        ),
        not_match=(
            "mongosh --eval 'db.users.find()'",
            "mongosh --eval 'db.users.deleteMany({a: 1})'",
            "mongosh --eval 'db.users.dropIndex(\"x\")'",
            "mongosh --eval 'print(\"db.dropDatabase()\")'",
        ),
    ),
    Loss(
        "redis-cli|valkey-cli|keydb-cli flushall|flushdb",
        "all keys would be deleted",
        match=("redis-cli FLUSHALL", "redis-cli -h db -n 1 flushdb async", "echo flushall | redis-cli"),
        not_match=("redis-cli get x", "redis-cli set x flushall", "redis-cli info"),
    ),
    Loss(
        "redis-cli|valkey-cli|keydb-cli del|unlink",
        "all keys would be deleted",
        everything=True,
        match=("redis-cli keys '*' | xargs redis-cli del",),
        not_match=("redis-cli del session:1", "redis-cli keys 'cache:*' | xargs redis-cli del"),
    ),
    Loss(
        "rabbitmqctl reset|force_reset|delete_vhost",
        "all queues and messages would be lost",
        match=("rabbitmqctl force_reset",),
        not_match=("rabbitmqctl list_queues",),
    ),
    Loss(
        "npm|pnpm|yarn unpublish",
        "a published package would be withdrawn",
        match=("npm unpublish x --force",),
        not_match=("npm publish", "npm uninstall x", "npm unpublish x --dry-run"),
    ),
    Loss(
        "gem yank",
        "a published package would be withdrawn",
        match=("gem yank x -v 1.0",),
        not_match=("gem push x.gem",),
    ),
    Loss(
        "gh|glab repo delete",
        "a repository would be deleted",
        match=("gh repo delete o/r --yes",),
        not_match=("gh repo view o/r", "gh release delete v1"),
    ),
    Loss(
        f"systemctl stop|disable|mask|kill {_VITAL_SERVICES}",
        "a service that the machine or the way to it needs would stop",
        match=("systemctl stop sshd", "sudo systemctl disable --now NetworkManager.service"),
        not_match=("systemctl restart sshd", "systemctl stop nginx", "systemctl status ssh"),
    ),
    Loss(
        f"service {_VITAL_SERVICES} stop",
        "a service that the machine or the way to it needs would stop",
        match=("service ssh stop",),
        not_match=("service ssh restart", "service nginx stop"),
    ),
    Loss(
        "ufw disable|reset",
        "the firewall would be open",
        match=("ufw --force reset",),
        not_match=("ufw status", "ufw allow 22"),
    ),
    Loss(
        "iptables|ip6tables|iptables-legacy|iptables-nft",
        "the rules of the firewall would be lost",
        needs="-F --flush -X --delete-chain",
        match=("iptables -F", "sudo iptables -t nat --flush"),
        not_match=("iptables -L -n", "iptables -A INPUT -j ACCEPT"),
    ),
    Loss(
        "nft flush ruleset",
        "the rules of the firewall would be lost",
        match=("nft flush ruleset",),
        not_match=("nft list ruleset",),
    ),
    Loss(
        "btrfs subvolume|sub delete|del",
        "a whole subvolume would be removed",
        match=("btrfs subvolume delete /mnt/data",),
        not_match=("btrfs subvolume list /",),
    ),
    Loss(
        "passwd",
        "an account would be left without a password, or locked",
        needs="-d --delete -l --lock",
        match=("passwd -d root",),
        not_match=("passwd --status me",),
    ),
    Loss(
        "history",
        "the record of commands would be lost",
        needs="-c",
        match=("history -c", "history -cw"),
        not_match=("history 20", "history -d 5"),
    ),
)
