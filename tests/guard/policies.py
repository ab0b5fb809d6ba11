"""The policies that the tests of the guard judge by."""

from dataclasses import replace

from nacre.contracts.modes import Modes
from nacre.guard.approval import policy_of
from nacre.guard.policy import Policy
from nacre.settings import PolicySettings

MODES = policy_of(PolicySettings(), Modes.profile)
STRICT = Policy("strict")
STRICT_MODES = replace(MODES, profile="strict")
