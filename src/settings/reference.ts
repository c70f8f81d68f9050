import { SETTING_GROUPS } from './definitions.ts'
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
`

const TABLE_HEAD = `| Setting | Environment variable | Allowed | Default | Meaning |
|---|---|---|---|---|
`

/** The settings reference, docs/settings.md: a table of each group, then the details. */
export function settingsReference(): string {
  const groups = Object.entries(SETTING_GROUPS)
  const tables = groups.map(
    ([title, group]) => `\n## ${title}\n\n${TABLE_HEAD}${Object.values(group).map(rowOf).join('')}`,
  )
  const all = groups.flatMap(([, group]) => Object.values(group))
  const details = all.flatMap(({ name, detail }) => (detail ? [`- \`${name}\`: ${detail}\n`] : []))
  return `${INTRODUCTION}${tables.join('')}\n## Details\n\n${details.join('')}`
}

function rowOf({ name, kind, shownDefault, meaning }: Definition<unknown>): string {
  const fallback = shownDefault === '' ? 'empty' : `\`${shownDefault}\``
  return `| \`${name}\` | \`${environmentName(name)}\` | ${kind.allowed} | ${fallback} | ${meaning} |\n`
}
