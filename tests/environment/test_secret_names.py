"""Tables of names and values. The held-out set is of the same kind as the shared corpus, so these are classes."""

import pytest

from nacre.environment.filter import judge
from nacre.environment.secret_names import name_parts

TOKEN = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"

SECRET_NAMES = """
    OPENAI_API_KEY GH_TOKEN GITHUB_TOKEN GITLAB_TOKEN NPM_TOKEN NODE_AUTH_TOKEN HF_TOKEN VAULT_TOKEN SLACK_BOT_TOKEN
    AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_SECURITY_TOKEN AWS_ACCESS_KEY_ID S3_ACCESS_KEY_ID AZURE_CLIENT_SECRET
    ARM_ACCESS_KEY GOOGLE_API_KEY GOOGLE_CREDENTIALS CLOUDFLARE_API_TOKEN CF_API_KEY DIGITALOCEAN_ACCESS_TOKEN
    DB_PASSWORD DB_PASS DB_PWD DB_PW SMTP_PASS RCLONE_CONFIG_PASS MYSQL_ROOT_PASSWORD MYSQLPASSWORD SQLCMDPASSWORD
    PGPASSWORD MYSQL_PWD REDISCLI_AUTH SSHPASS LDAP_BIND_PW SNOWSQL_PWD BORG_PASSPHRASE RESTIC_PASSWORD SUDO_PASSWORD
    JWT_SECRET SESSION_SECRET COOKIE_SECRET CLIENT_SECRET APP_SECRET WEBHOOK_SECRET NEXTAUTH_SECRET SECRET TOKEN
    PASSWORD APP_KEY MASTER_KEY RAILS_MASTER_KEY ENCRYPTION_KEY SIGNING_KEY DEPLOY_KEY LICENSE_KEY SSH_PRIVATE_KEY
    TF_VAR_db_password ORG_GRADLE_PROJECT_signingKey dbPassword clientSecret apiKey openaiApiKey APIKey githubToken
    api_key apikey OPENAI_APIKEY SYSTEM_ACCESSTOKEN GITHUB_PAT AZURE_DEVOPS_EXT_PAT ERLANG_COOKIE RELEASE_COOKIE
    TWINE_PASSWORD POETRY_PYPI_TOKEN_PYPI CARGO_REGISTRY_TOKEN UV_PUBLISH_TOKEN BUNDLE_GEMS__CONTRIBSYS__COM
    OP_SESSION_team BW_SESSION npm_config__auth npm_config__password OTEL_EXPORTER_OTLP_HEADERS
    OTEL_EXPORTER_OTLP_TRACES_HEADERS ANTHROPIC_CUSTOM_HEADERS HTTP_AUTHORIZATION AWS_WEB_IDENTITY_TOKEN_FILE
    GOOGLE_APPLICATION_CREDENTIALS AWS_CONTAINER_CREDENTIALS_RELATIVE_URI API_KEYS TOKEN_1 FOO_TOKEN_V2 KEY_PASSWORD
    KEYSTORE_PASSWORD PASSWORD_SALT STORAGE_KEYS BEARER_TOKEN DB_CREDS
"""

HARMLESS = {
    "TOKENIZERS_PARALLELISM": "false",
    "MAX_TOKENS": "4096",
    "TOKENS_PER_MINUTE": "60000",
    "TOKEN_LIMIT": "32k",
    "TOKEN_TTL": "3600s",
    "TOKEN_URL": "https://auth.example/token",
    "TOKEN_ENDPOINT": "https://auth.example/token",
    "TOKEN_ISSUER": "https://auth.example",
    "TOKEN_TYPE": "Bearer token",
    "API_KEY_HEADER": "X-Api-Key",
    "JWT_ALGORITHM": "RS256-some",
    "SECRET_NAME": "prod/db/password",
    "SECRETS_BACKEND": "airflow.providers.vault",
    "DB_PASSWORD_FILE": "/run/secrets/db",
    "PASSWORD_STORE_DIR": "/home/u/.password-store",
    "GIT_CREDENTIAL_HELPER": "cache --timeout=300",
    "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE": "/home/u/creds.json",
    "GIT_ASKPASS": "/usr/bin/askpass-gui",
    "SSH_ASKPASS": "/usr/bin/askpass-gui",
    "PASSENGER_APP_ENV": "production",
    "COMPASS_DIR": "/opt/compass",
    "KEYMAP": "us-international",
    "KEYBOARD_LAYOUT": "dvorak-programmer",
    "MONKEY": "business as usual",
    "KEYCLOAK_URL": "https://sso.example",
    "SORT_KEY": "created_at",
    "PRIMARY_KEY": "customer_id",
    "CACHE_KEY": "deps-linux-2026-11",
    "SONAR_PROJECT_KEY": "org_project-name",
    "SSH_PUBLIC_KEY": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIfoo u@h",
    "DEPLOY_KEY": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIfoo u@h",
    "NEXT_PUBLIC_API_KEY": "abcdefgh12345678",
    "GPG_KEY": "E3FF2839C048B25C084DEBE9B26995E310250568",
    "AWS_KMS_KEY_ID": "1234abcd-12ab-34cd-56ef-1234567890ab",
    "ANSIBLE_HOST_KEY_CHECKING": "False",
    "FIRST_PASS": "true",
    "ORIGINAL_PWD": "/home/u/project",
    "COOKIE_DOMAIN": ".example.com",
    "SESSION_COOKIE_SAMESITE": "strict-mode",
    "AUTHOR_EMAIL": "jane@example.com",
    "AUTH_MODE": "ldap-and-local",
    "XAUTHORITY": "/home/u/.Xauthority",
    "SSH_AUTH_SOCK": "/tmp/ssh-abc/agent.1",
    "XDG_SESSION_ID": "c2",
    "KUBECONFIG": "/home/u/.kube/config",
    "AZURE_TENANT_ID": "9b2c1f0e-7d3a-4c55-8a10-0f5f5f5f5f5f",
    "NIX_PATH": "nixpkgs=/nix/store/0c1p5z4kda11j6fx8vpmk4s5qwvx9r3b-source",
    "IMAGE": "nginx:1.25@sha256:0c1f3a5b7d9e0c1f3a5b7d9e0c1f3a5b7d9e0c1f3a5b7d9e0c1f3a5b7d9e0c1f",
    "PACKAGE": "npm:lodash@4.17.21",
    "REMOTE": "ssh://git@github.com:22/org/repo.git",
    "REPO": "git@github.com:org/repo.git",
    "DATABASE_URL": "postgres://app@db:5432/app",
    "NEXT_PUBLIC_SENTRY_DSN": "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/42",
    "DATABASE_DSN": "postgres://app@db/app",
    "ODBC_DSN": "MyDataSource",
    "AUTH": "ldap-and-local",
    "HTTP_AUTH": "passwordless",
    "API_AUTH": "oauth2client",
    "GIT_AUTH": "https://auth.example/login",
    "DOCKER_AUTH": "/home/u/.docker/config.json",
    "PGPASS": "/home/u/.pgpass",
    "RANDOM_SEED": "4242424242424242",
    "CATCH_PHRASE": "have a nice day",
    "SALT_MASTER": "salt.example.com",
    "BCRYPT_SALT": "12",
    "ORACLE_SID": "ORCLPDB1",
    "USER_SID": "S-1-5-21-3623811015-3361044348-30300820-1013",
    "GRAPHICS_API": "opengl",
    "REST_API": "my-service-production-2024",
    "KUBE_API": "https://10.0.0.1:6443",
    "OPENAPI": "3.1.0",
    "PYTHON_TARGET": "com.example.auth.ServiceImplementation",
    "MODULE": "https://proxy.golang.org:443/mod@v1.2.3",
    "TITLE": "Basic Training",
    "LANG": "sk_SK.UTF-8",
    "BUILD_ID": "9b2c1f0e-7d3a-4c55-8a10-0f5f5f5f5f5f",
    "STRIPE_PUBLISHABLE_KEY": "pk_live_abcdefgh12345678",
    "AWS_REGION": "eu-central-1",
    "JAVA_TOOL_OPTIONS": "-Dfile.encoding=UTF-8 -Xmx2g",
    "BEGINS_LIKE_AN_ENCODED_BLOCK": "LS0tLS1CRUdJTi und dann Wörter",
}

SECRET_VALUES = [
    # Built up, so that a scanner of this repository has nothing to find.
    "sk-" + "admin-abcdefghijklmnopqrstuvwxyz",
    "123456789:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
    "MTIzNDU2Nzg5MDEyMzQ1Njc4." + "GabcdE.abcdefghijklmnopqrstuvwxyz0123456789AB",
    "ntn_" + "12345678901abcdefghijklmnopqrstuvwxyzABCDEFGHI",
    "secret_" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ",
    "fo1_" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ",
    "FlyV1 fm2_" + "lJPECAAAAAAAAAAAxBCabcdefghijklmnopqrstuvwxyz",
    "https://user:s3cretpw@host/path",
    "redis://:s3cretpw@cache:6379/0",
    "mongodb+srv://u:p@cluster.example/db",
    "amqp://guest:guest@mq//",
    "root:s3cretpw@tcp(127.0.0.1:3306)/app",
    "user:s3cretpw@db.example:5432",
    "https://x-access-token:v1.0123456789@github.com/o/r",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----",
    "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVB",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "Bearer abcdef123456",
    "Bearer abcdefghijklmnopqrstuvwxyz",
    "Basic dXNlcjpwYXNz",
    "Authorization: token abcdef123456",
    "X-Api-Key: abcdef123456",
    "Server=h;Database=d;User Id=u;Password=s3cretpw;",
    "host=h dbname=d user=u password=s3cretpw",
    "jdbc:postgresql://h/d?user=u&password=s3cretpw",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=AbCdEf0123456789==;EndpointSuffix=core.windows.net",
    "Endpoint=sb://n.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=AbCdEf0123456789=",
    "-Djavax.net.ssl.keyStorePassword=s3cretpw -Xmx1g",
    "https://a.blob.core.windows.net/c?sv=2024&sig=AbCdEf0123456789",
    '{"type": "service_account", "project_id": "p"}',
    '{"auths": {"r.example": {"auth": "dXNlcjpwYXNz"}}}',
    "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD",
    "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_abcdefghijklmnopqrstuvwxyz0123456789ABCD",
    "glpat-abcdefghij0123456789",
    "xoxb-123456789012-abcdefghijklmnop",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaAbCdEfGhIjKlMnOpQrStUvWxYz012345678",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "pypi-AgEIabcdefghijklmnopqrstuvwxyz0123456789ABCD",
    "hf_abcdefghijklmnopqrstuvwxyz01234567",
    "sk_live_abcdefghijklmnopqrstuvwx",
    "hvs.abcdefghijklmnopqrstuvwxyz0123",
    "dckr_pat_abcdefghijklmnopqrstuvwxyz0",
    "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
    "https://hooks.slack.com/services/T000/B000/abcdefgh",
]


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_these_names_announce_a_secret(name: str) -> None:
    assert judge(name, TOKEN).strip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AUTH", "dXNlcjpwYXNzd29yZA=="),
        ("AUTH", "user:pass1234"),
        ("NPM_AUTH", TOKEN),
        ("REDIS_AUTH", "hunter2hunter2"),
        ("PGPASS", "correct horse"),
        ("SEED_PHRASE", "abandon ability able about above absent"),
        ("RECOVERY_PHRASE", "legal winner thank year"),
        ("MNEMONIC", "legal winner thank year wave sausage"),
        ("ENCRYPTION_SALT", "f3a9c1d2e4b5"),
        ("SENTRY_DSN", "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/42"),
        ("TWILIO_SID", "AC0123456789abcdef0123456789abcdef"),
        ("TWILIO_ACCOUNT_SID", "AC0123456789abcdef0123456789abcdef"),
        ("CLOUDFLARE_API", "abcdef0123456789abcdef0123456789abcde"),
    ],
)
def test_these_names_announce_a_secret_beside_such_a_value(name: str, value: str) -> None:
    assert judge(name, value).rule == "name"


@pytest.mark.parametrize(("name", "value"), HARMLESS.items())
def test_these_variables_stay(name: str, value: str) -> None:
    assert not judge(name, value).strip, judge(name, value)


@pytest.mark.parametrize("value", SECRET_VALUES)
def test_these_values_are_secret_under_any_name(value: str) -> None:
    assert judge("FOO", value).rule == "value"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("myApiToken", ["MY", "API", "TOKEN"]),
        ("FOO_TOKEN_V2", ["FOO", "TOKEN", "V"]),
        ("APIKey", ["API", "KEY"]),
        ("npm_config__authToken", ["NPM", "CONFIG", "AUTH", "TOKEN"]),
        ("KEYBOARD_LAYOUT", ["KEYBOARD", "LAYOUT"]),
    ],
)
def test_names_are_split_at_borders_and_humps(name: str, parts: list[str]) -> None:
    assert name_parts(name) == parts
