import { definitions } from './definitions.ts'
import { environmentName } from './sources.ts'

const INTRODUCTION = `# Settings

<!-- Made by \`npm run docs\` from src/settings/definitions.ts: change it there. -->

Each setting can be given in three places. The first that names it counts:

1. a flag: \`waypost start --port 8848\`, \`--port=8848\`, and with npm \`npm start -- --port 8848\`
2. an environment variable: \`WAYPOST_PORT=8848\`. An empty variable counts as absent.
3. a settings file, named by \`--settings FILE\` or \`WAYPOST_SETTINGS\`: a JSON object, flat
   (\`{ "data-dir": "/var/lib/waypost" }\`) or nested (names are joined by a dot), or lines of the form
   \`name=value\`, where \`#\` begins a comment line

Settings are read once, at the start. An unknown name or a wrong value stops the start with exit code 2 and a message
that says what is allowed.

A duration is a whole number with a unit, \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`; without one it is in milliseconds. A size is a
whole number with \`B\`, \`KiB\`, \`MiB\` or \`GiB\`; without one it is in bytes.

| Setting | Environment variable | Allowed | Default | Meaning |
|---|---|---|---|---|
`

/** The settings reference, docs/settings.md, made from the definitions. */
export function settingsReference(): string {
  const rows = Object.values(definitions).map((definition) => {
    const { name, kind, shownDefault, meaning } = definition
    const fallback = shownDefault === '' ? 'empty' : `\`${shownDefault}\``
    return `| \`${name}\` | \`${environmentName(name)}\` | ${kind.allowed} | ${fallback} | ${meaning} |\n`
  })
  return INTRODUCTION + rows.join('')
}

/** The settings for a terminal: two lines each, the flag with its default, and what is allowed. */
export function settingsHelp(): string {
  return Object.values(definitions)
    .map(
      ({ name, kind, shownDefault }) => `  --${name} (${shownDefault || 'empty'})\n      ${kind.allowed}\n`,
    )
    .join('')
}
