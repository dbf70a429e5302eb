"""Our tasks as Gymnasium environments, and Gymnasium environments as our tasks."""
