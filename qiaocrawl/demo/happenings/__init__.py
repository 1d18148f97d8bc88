"""What happens in the demo web's last month: who told it first, who took it, what became of it."""
