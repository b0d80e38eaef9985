npx plimsoll start --db memory.sqlite --user ada --project turin
