/** The commands of the pages for a first day, in their order, and how each ends where nobody sits at a terminal. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** A machine on which Waypost is installed. */
export interface Machine {
  /** Runs a script of a shell without a terminal, and resolves with its output of both streams. */
  readonly run: (script: string) => Promise<string>
  /** The address of its server, or of the one that the pages start. */
  readonly url: string
  /** The address of an old server with data, where the pages move from. */
  readonly oldUrl?: string
}

/** A command of a page: how it begins, its exit code, and its output. */
interface Step {
  readonly begins: string
  readonly code?: number
  readonly says?: RegExp
  /** Commands before it: what a reader has already. */
  readonly before?: string
  /** Where it does not end by itself, or asks, or names what only a reader knows. */
  readonly instead?: (command: string) => string
}

interface Page {
  readonly file: string
  /** The headings before its first command and behind its last one. */
  readonly from?: string
  readonly to?: string
  readonly steps: readonly Step[]
}

export const PASSWORD = 'a password for tests'
const END = '=== ended with'

/** It runs until somebody ends it. */
const forAWhile = (command: string): string => `${command} & sleep 4; kill $!; wait $!`
const inBackground = (command: string): string =>
  `${command} > server.log 2>&1 & SERVER=$!; for i in $(seq 60); do waypost health && break; sleep 1; done`
const asked = (command: string): string => `printf '%s\\n%s\\n' "$PASSWORD" "$PASSWORD" | ${command}`
const dropped = (): string => 'true'
const withPasswords = (command: string): string =>
  command.replace(
    /-d (\w*[pP]assword)=…/g,
    (_, name: string) => `--data-urlencode "${name}=$PASSWORD${name === 'newPassword' ? ', changed' : ''}"`,
  )

/** An instance of the service of the page. The image has no curl. */
const REGISTERED = `post() {
  if command -v curl; then curl -s "$1" -d "$2"; else wget -q -O - --post-data "$2" "$1"; fi
}
TOKEN=$(post $URL/svc/v1/auth/login "username=ann&password=$(echo "$WAYPOST_PASSWORD" | sed 's/ /%20/g')" | grep -o 'eyJ[^"]*')
post "$URL/svc/v1/ns/instance?accessToken=$TOKEN" 'serviceName=shop&ip=10.0.0.7&port=8080&ephemeral=false'`

const FIRST_HOUR: Page = {
  file: 'docs/operations.md',
  from: "### The administrator's first hour",
  to: '**5.',
  steps: [
    { begins: 'waypost start --auth', instead: inBackground, says: /answers/ },
    { begins: 'journalctl', instead: dropped },
    { begins: 'URL=' },
    { begins: 'read -rs', instead: () => `PASSWORD='${PASSWORD}'; export WAYPOST_PASSWORD=$PASSWORD` },
    {
      begins: 'printf %s "$PASSWORD"',
      before: "CODE=$(grep -o 'code=[^ ]*' server.log | head -n 1 | cut -d= -f2)",
      instead: (command) => command.replace('sv6v-x7xn-…', '$CODE'),
      says: /"username":"nacos"/,
    },
    { begins: 'waypost user add ann --admin', instead: asked, says: /The user ann is made/ },
    { begins: 'waypost user list', says: /ann +ROLE_ADMIN/ },
    { begins: 'waypost user remove nacos', says: /nacos/ },
    {
      begins: 'printf \'%s\\n\' "$NEW_PASSWORD"',
      before: 'NEW_PASSWORD=$PASSWORD',
      says: /shop-api is made/,
    },
    { begins: 'TOKEN=' },
    { begins: 'auth=' },
    { begins: 'curl -H "$auth" $URL/svc/v1/auth/roles', says: /200/ },
    { begins: 'curl -H "$auth" $URL/svc/v1/auth/permissions', says: /200/ },
    { begins: 'curl -H "$auth" $URL/svc/v1/auth/permissions', says: /200/ },
  ],
}

const USERS: Page = {
  file: 'docs/recipes/manage-users.md',
  steps: [
    {
      begins: 'curl -s "$URL/svc/v1/auth/login"',
      before: 'printf %s "$PASSWORD" > password.txt',
      instead: (command) => command.replace('username=nacos', 'username=ann'),
      says: /"accessToken":"eyJ/,
    },
    { begins: 'auth=', instead: dropped },
    ...['users', 'roles', 'permissions', 'permissions'].map((what) => ({
      begins: `curl -s -H "$auth" "$URL/svc/v1/auth/${what}"`,
      instead: withPasswords,
      says: /200/,
    })),
    {
      begins: 'own=',
      instead: () => `own="Authorization: Bearer $(curl -s "$URL/svc/v1/auth/login" -d username=shop \\
  --data-urlencode "password=$PASSWORD" | grep -o 'eyJ[^"]*')"`,
    },
    { begins: 'curl -s -X PUT -H "$own"', instead: withPasswords, says: /200/ },
    {
      begins: 'waypost user password shop',
      instead: (command) => `export WAYPOST_PASSWORD="$PASSWORD, changed"
${asked(command)}; STATUS=$?; export WAYPOST_PASSWORD=$PASSWORD; (exit $STATUS)`,
      says: /new password/,
    },
  ],
}

const TERMINAL: Page = {
  file: 'docs/terminal.md',
  steps: [
    { begins: 'waypost login', says: /Signed in to / },
    { begins: 'waypost context set dev' },
    { begins: 'waypost context use dev' },
    {
      begins: 'waypost config get',
      before: `export WAYPOST_CONTEXT=prod
printf 'timeout: 10\\n' > first.yaml
waypost config put app.yaml first.yaml`,
    },
    { begins: 'waypost config put', before: "printf 'timeout: 60\\n' > app.yaml", says: /is published/ },
    {
      begins: 'waypost config edit',
      before: `printf 'a=1\\n' > db.properties
waypost config put SHOP/db.properties db.properties
printf '#!/bin/sh\\necho a=2 > "$1"\\n' > editor; chmod +x editor
export EDITOR="$PWD/editor"`,
      code: 2,
      says: /--yes/,
    },
    {
      begins: 'waypost config diff',
      before: "printf 'timeout: 61\\n' > app.yaml",
      code: 1,
      says: /\+timeout: 61/,
    },
    { begins: 'waypost config put', says: /is published/ },
    { begins: 'waypost config listeners' },
    { begins: 'waypost config history', says: /longer timeout/ },
    {
      begins: 'waypost config restore',
      instead: (command) =>
        command.replace(/\d{16}/, '$(waypost config history app.yaml -o name | tail -n 1)'),
      says: /app.yaml/,
    },
    { begins: 'waypost config watch', instead: forAWhile },
    {
      begins: 'waypost config apply',
      before: "mkdir -p config/prod/SHOP; printf 'a: 1\\n' > config/prod/SHOP/a.yaml",
      code: 1,
      says: /a\.yaml/,
    },
    { begins: 'waypost config apply', says: /a\.yaml/ },
    {
      begins: 'set -e',
      before: 'GIT_COMMIT=4e1243b',
      instead: (command) => `(${command.replace('--username ci', '--username ann')})`,
    },
    { begins: 'waypost service list', before: REGISTERED, says: /shop/ },
    { begins: 'waypost service instances', says: /10\.0\.0\.7:8080/ },
    { begins: 'waypost service timeline', says: /registered/ },
    { begins: 'waypost service explain', says: /10\.0\.0\.7:8080/ },
    { begins: 'waypost service disable', says: /10\.0\.0\.7:8080|1 instance/ },
    { begins: 'waypost service lift' },
    { begins: 'waypost service dismiss' },
    { begins: 'waypost service watch', instead: forAWhile },
    { begins: 'waypost status', says: /configs/ },
    { begins: 'waypost audit', says: /ann/ },
    {
      begins: 'source <(waypost completion bash)',
      before: 'mkdir -p ~/.config/fish/completions',
      // The manual is for a terminal, and a small shell cannot read what is for bash.
      instead: (command) => command.replace(/\nman .*/, '').replace(/^source <\((.*)\)$/m, '$1 > completion'),
    },
  ],
}

const BACKUP: Page = {
  file: 'docs/recipes/backup-and-restore.md',
  from: '## Back up a running server',
  steps: [
    {
      begins: 'waypost backup --server',
      before: 'mkdir -p /backups',
      instead: (command) => `${command} --username ann`,
      says: /Verified/,
    },
    { begins: 'waypost backup --etcd-endpoints', instead: dropped },
    {
      begins: 'waypost backup --data-dir',
      before: 'kill $SERVER; wait $SERVER; BACKUP=$(ls -d /backups/20*)',
      says: /Verified/,
    },
    {
      begins: 'waypost restore',
      before: 'mv /var/lib/waypost /var/lib/waypost.old',
      instead: (command) => command.replace(/\/backups\/[\d-]+/, '$BACKUP'),
    },
    { begins: 'waypost start', instead: inBackground, says: /answers/ },
  ],
}

const FROM_NACOS: Page = {
  file: 'docs/recipes/from-nacos.md',
  steps: [
    {
      begins: 'waypost user add ann --first',
      // Who reads this page has no context of another page.
      before:
        'kill $SERVER; wait $SERVER; unset WAYPOST_CONTEXT; waypost context remove dev; waypost context remove prod',
      instead: asked,
    },
    {
      begins: 'waypost start --port',
      instead: (command) => inBackground(command.replace(/--port \S+ /, '')),
      says: /answers/,
    },
    { begins: 'waypost login', says: /Signed in to / },
    // Not all answers of the old server were recorded: the plan and the comparison lack some.
    { begins: 'waypost move --from', code: 1, says: /config/ },
    { begins: 'waypost move --apply', says: / 0 refused/ },
    { begins: 'waypost parity', code: 2 },
    { begins: 'waypost config list', says: /sh\.x/ },
    { begins: 'waypost status', says: /configs +1\n/ },
    { begins: 'waypost service list' },
  ],
}

/** Runs all pages in one shell, as a reader does who begins with an empty machine. */
export const runFirstDay = (machine: Machine): Promise<void> =>
  runPages([FIRST_HOUR, USERS, TERMINAL, BACKUP, FROM_NACOS], machine)

/** Runs the page for terminals where the server runs and has the administrator ann. */
export const runTerminalPage = (machine: Machine): Promise<void> => runPages([TERMINAL], machine)

async function runPages(pages: readonly Page[], machine: Machine): Promise<void> {
  const all = pages.flatMap((page) => {
    const commands = commandsOf(page)
    // A new command of a page has a line here.
    expect(
      commands.map((command, at) => command.slice(0, page.steps[at]?.begins.length)),
      page.file,
    ).toEqual(page.steps.map(({ begins }) => begins))
    return page.steps.map((step, at) => ({ step, command: here(commands[at]!, step, machine) }))
  })
  const { port } = new URL(machine.url)
  const setUp = `export WAYPOST_PASSWORD='${PASSWORD}' WAYPOST_PORT=${port} URL=${machine.url}`
  const script = all.map(
    ({ step, command }) => `{ ${step.before ?? 'true'}
} > /dev/null 2>&1
${command}
echo "${END} $?"`,
  )
  const tearDown = 'test -z "$SERVER" || { kill $SERVER; wait $SERVER; }'
  const printed = await machine.run([setUp, ...script, tearDown].join('\n'))
  const ends = printed.split(END)
  for (const [at, { step, command }] of all.entries()) {
    const said = ends[at]?.replace(/^ \d+\n/, '')
    const code = Number(/^ (\d+)\n/.exec(ends[at + 1] ?? '')?.[1])
    expect({ command, code, said }).toMatchObject({
      code: step.code ?? 0,
      said: expect.stringMatching(step.says ?? /^/),
    })
  }
}

/** The commands of a page without their comments; a block of a script is one command. */
function commandsOf({ file, from, to }: Page): string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')
  const begin = from === undefined ? 0 : text.indexOf(from)
  const end = to === undefined ? undefined : text.indexOf(to, begin)
  const blocks = text.slice(begin, end).matchAll(/^```(console|sh)\n([^]*?)^```$/gm)
  return [...blocks].flatMap(([, kind, block]) =>
    kind === 'sh'
      ? [withoutComments(block!).trim()]
      : [...block!.matchAll(/^\$ (.*)$/gm)].map(([, line]) => withoutComments(line!)),
  )
}

const withoutComments = (code: string): string => code.replaceAll(/ +# .*$/gm, '')

function here(command: string, { instead }: Step, { url, oldUrl = '' }: Machine): string {
  const named = command
    .replaceAll('http://127.0.0.1:8848/nacos', oldUrl)
    .replaceAll('https://waypost.example:8848', url)
    .replaceAll('http://127.0.0.1:8848', url)
    .replaceAll(/(http:\/\/)?127\.0\.0\.1:18848/g, url)
  return instead?.(named) ?? named
}
