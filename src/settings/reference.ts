import { definitions } from './definitions.ts'
import type { Definition } from './setting.ts'
import { environmentName } from './sources.ts'

const INTRODUCTION = `# Settings

<!-- Made by \`npm run docs\` from src/settings/definitions.ts: change it there. -->

You can give a setting in three places. The first place that has it wins:

1. a flag: \`waypost start --port 8848\`, \`--port=8848\`, and with npm \`npm start -- --port 8848\`
2. an environment variable: \`WAYPOST_PORT=8848\`. An empty variable counts as absent.
3. a settings file, named by \`--settings FILE\` or \`WAYPOST_SETTINGS\`. It is a JSON object, flat
   (\`{ "data-dir": "/var/lib/waypost" }\`) or nested (names are joined by a dot), or has lines \`name=value\` and comment
   lines that start with \`#\`.

The server reads the settings once, at the start. With an unknown name or a wrong value it exits with code 2 and a message
that says what is allowed.

A duration is a whole number with a unit, \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`; without a unit it is in milliseconds. A size is a
whole number with \`B\`, \`KiB\`, \`MiB\` or \`GiB\`; without a unit it is in bytes.

| Setting | Environment variable | Allowed | Default | Meaning |
|---|---|---|---|---|
`

/** Wide enough for most names with their defaults. */
const HELP_COLUMN = 41

/** The settings reference, docs/settings.md: a table of the definitions, then their details. */
export function settingsReference(): string {
  const all = Object.values<Definition<unknown>>(definitions)
  const details = all.flatMap(({ name, detail }) => (detail ? [`- \`${name}\`: ${detail}\n`] : []))
  return `${INTRODUCTION}${all.map(rowOf).join('')}\n## Details\n\n${details.join('')}`
}

function rowOf({ name, kind, shownDefault, meaning }: Definition<unknown>): string {
  const fallback = shownDefault === '' ? 'empty' : `\`${shownDefault}\``
  return `| \`${name}\` | \`${environmentName(name)}\` | ${kind.allowed} | ${fallback} | ${meaning} |\n`
}

/** The settings for a terminal, one line each: the flag, its default and its meaning. */
export function settingsHelp(): string {
  return Object.values<Definition<unknown>>(definitions)
    .map(({ name, shownDefault, meaning }) => {
      const flag = `  --${name} (${shownDefault || 'empty'})`.padEnd(HELP_COLUMN)
      return `${flag}  ${meaning.replaceAll('`', '')}\n`
    })
    .join('')
}
