"""What a project's runs find out: kept, looked after, and told to those that come later."""
