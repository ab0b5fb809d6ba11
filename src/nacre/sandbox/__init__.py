"""What commands are confined to: a policy, the place it describes, and the back ends that enforce it."""
