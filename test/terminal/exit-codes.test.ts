/** The exit codes of commands about stores, backups and files: the table of docs/terminal.md. */
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alter, fileOf, flipBit, overwrite, PAGE, sampleStore } from '../store-tools/damage.ts'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { needTool } from '../support/need-tool.ts'
import { sampled } from '../support/sampled.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { type Ran, Terminal } from './terminal.ts'

const setpriv = needTool('setpriv')
const terminal = new Terminal()
/** Nothing listens there. */
const NO_ETCD = ['--etcd-endpoints', 'http://127.0.0.1:1']
const RAW = /\bE[A-Z]{3,}: |illegal operation|disk image/

let base: string
let managed: ManagedWaypost
let signedIn: Record<string, string>

beforeAll(async () => {
  base = temporaryDirectory('exit-codes-')
  cpSync(await sampleStore(5), place('sound'), { recursive: true })
  await terminal.ok('backup', '--data-dir', place('sound'), '--to', place('backup'))
  mkdirSync(place('empty'))
  mkdirSync(place('other'))
  writeFileSync(place('file'), 'text')
  writeFileSync(join(place('other'), 'note.txt'), 'text')
  const { length } = readFileSync(fileOf(place('sound')))
  damaged('sound', 'cut', (of) => truncateSync(fileOf(of), length - 5_000))
  damaged('sound', 'zeros', (of) => overwrite(fileOf(of), 0, Buffer.alloc(PAGE)))
  damaged('sound', 'rotten', (of) => overwrite(fileOf(of), PAGE, Buffer.alloc(length - PAGE, 1)))
  damaged('sound', 'lost', (of) => rmSync(fileOf(of)))
  damaged('sound', 'row', (of) => alter(of, 'DELETE FROM config_item WHERE name_id = 2'))
  damaged('sound', 'marker', (of) => writeFileSync(join(of, 'waypost.json'), '{'))
  damaged('sound', 'foreign', (of) => alter(of, 'PRAGMA application_id = 1'))
  damaged('sound', 'newer', (of) => writeFileSync(join(of, 'waypost.json'), '{"store":"WPST","format":99}'))
  // What a development build wrote.
  damaged('sound', 'early-marker', (of) => writeFileSync(join(of, 'waypost.json'), '{"format":4}'))
  damaged('sound', 'early-database', (of) =>
    alter(of, `PRAGMA application_id = ${0x57415950}; PRAGMA user_version = 4`),
  )
  damaged('backup', 'changed-backup', (of) => flipBit(fileOf(of), length - 100))
  damaged('backup', 'half-backup', (of) => rmSync(fileOf(of)))
  damaged('backup', 'no-facts', (of) => rmSync(join(of, 'backup.json')))
  damaged('backup', 'torn-facts', (of) => writeFileSync(join(of, 'backup.json'), '{"size":'))
  managed = await startManaged()
  const { url } = managed.waypost
  const body = new URLSearchParams({ username: 'nacos', password: 'secret' })
  const answer = await fetch(`${url}/svc/v1/auth/login`, { method: 'POST', body })
  const { accessToken } = (await answer.json()) as { accessToken: string }
  signedIn = { WAYPOST_SERVER: url, WAYPOST_ACCESS_TOKEN: accessToken }
}, 60_000)

afterAll(() => managed?.waypost.stop())

function place(name: string): string {
  return join(base, name)
}

function damaged(from: string, name: string, change: (directory: string) => void): void {
  cpSync(place(from), place(name), { recursive: true })
  change(place(name))
}

/** Runs a command. `@name` in its words is a place of this test. */
async function run(line: string, env: Record<string, string> = {}): Promise<Ran> {
  return terminal.run(wordsOf(line), '', env)
}

function wordsOf(line: string): readonly string[] {
  return line.split(' ').map((word) => (word.startsWith('@') ? place(word.slice(1)) : word))
}

/** Every command on a data directory. Commands that write do so to a new place. */
const ON_A_DIRECTORY = [
  ['doctor', (of: string) => `doctor --data-dir ${of}`],
  ['copy-store --salvage', (of: string) => `copy-store --salvage --from ${of} --to ${newPlace()}`],
  ['backup', (of: string) => `backup --data-dir ${of} --to ${newPlace()}`],
  ['user list', (of: string) => `user list --data-dir ${of}`],
  ['key rotate', (of: string) => `key rotate --data-dir ${of}`],
  ['copy-store', (of: string) => `copy-store --from ${of} --to etcd ${NO_ETCD.join(' ')}`],
] as const

let places = 0
function newPlace(): string {
  return `@new-${++places}`
}

const DIRECTORIES = ['missing', 'empty', 'other', 'file', 'lost', 'zeros', 'rotten', 'foreign']
const ON_EACH = ON_A_DIRECTORY.flatMap(([command, lineOf]) =>
  DIRECTORIES.map((of) => ({ command, lineOf, of })),
)
const commandOf = (line: string): string => line.split(' ')[0]!

test.each(sampled(ON_EACH, ({ command }) => command))(
  '$command of a data directory exits with 1 for one that is $of',
  async ({ lineOf, of }) => {
    const { code, out, err } = await run(lineOf(`@${of}`))
    expect([code, err], out).toEqual([1, expect.not.stringMatching(RAW)])
    expect(out + err).toMatch(new RegExp(`/${of}|is damaged`))
  },
)

describe.each(sampled(ON_A_DIRECTORY))('%s of a data directory', (command, lineOf) => {
  test('exits with 2 for one that a later version has written', async () => {
    const { code, out, err } = await run(lineOf('@newer'))
    // A copy looks at the database alone, which this version can read; then it finds no etcd.
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(command === 'copy-store' ? /cannot be reached/ : /Use the version that wrote it/)
  })

  test('exits with 2 while a server works on it', async () => {
    const { code, out, err } = await run(lineOf(managed.waypost.dataDir))
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('is in use')])
  })
})

const ON_STORES = [
  // Damage that only some commands look at.
  [1, 'doctor --data-dir @cut', /DAMAGE/],
  [1, 'backup --data-dir @cut --to @new', /has been cut off/],
  [1, 'user list --data-dir @cut', /has been cut off/],
  [1, 'doctor --data-dir @row', /DAMAGE/],
  [1, 'backup --data-dir @row --to @new', /the store is damaged/],
  [1, 'doctor --data-dir @marker', /The marker cannot be read/],
  [1, 'user list --data-dir @marker', /waypost.json cannot be read/],
  [2, 'copy-store --salvage @cut', /Name two places/],
  [2, 'copy-store --from @cut @new', /Name two places/],
  [2, 'doctor --data-dir @early-marker', /development build/],
  [2, 'doctor --data-dir @early-database', /development build/],
  [2, 'doctor', /--data-dir is required/],
  // Backups.
  [1, 'restore --from @missing --data-dir @new', /holds no whole backup: backup.json is missing/],
  [1, 'restore --from @other --data-dir @new', /holds no whole backup/],
  [1, 'restore --from @file --data-dir @new', /holds no whole backup/],
  [1, 'restore --from @no-facts --data-dir @new', /backup.json is missing/],
  [1, 'restore --from @torn-facts --data-dir @new', /backup.json does not say what it should/],
  [1, 'restore --from @half-backup --data-dir @new', /waypost.db is missing/],
  [1, 'restore --from @changed-backup --data-dir @new', /its sha256 differs/],
  [1, `copy-store --from @changed-backup --to etcd ${NO_ETCD.join(' ')}`, /its sha256 differs/],
  [2, 'restore --from @backup --data-dir @other', /is not empty/],
  [2, 'restore --from @backup --data-dir @file', /is not a directory/],
  [2, 'restore --from @backup --data-dir @file/below', /is not a directory/],
  [2, 'restore --from @backup', /--data-dir is required/],
  [2, 'backup --data-dir @sound --to @other', /is not empty/],
  [2, 'backup --data-dir @sound --to @file/below', /is not a directory/],
  [0, 'copy-store --salvage --from @sound --to @new-a', /Nothing was left out/],
  [0, 'copy-store --salvage --from @backup --to @new-b', /Nothing was left out/],
  [1, 'copy-store --salvage --from @cut --to @new-c', /places were left out/],
  [1, 'copy-store --salvage --from @row --to @new-d', /places were left out/],
  [2, 'copy-store --salvage --from @sound --to @other', /is not empty/],
  [2, 'copy-store --salvage --from @sound --to @file/below', /is not a directory/],
  [2, 'copy-store --salvage --from @sound --to @sound/below', /where a salvage writes nothing/],
  [2, 'copy-store --from @sound --to @new', /One of --from and --to is `etcd`/],
  [2, `copy-store --salvage --from etcd --to etcd ${NO_ETCD.join(' ')}`, /One of --from and --to/],
  [2, `copy-store --salvage --from etcd --to @new ${NO_ETCD.join(' ')}`, /cannot be reached/],
  // Etcd.
  [2, `doctor ${NO_ETCD.join(' ')}`, /cannot be reached/],
  [2, `backup ${NO_ETCD.join(' ')} --to @new`, /cannot be reached/],
  [2, `user list ${NO_ETCD.join(' ')}`, /cannot be reached/],
  [2, `restore --from @backup ${NO_ETCD.join(' ')}`, /cannot be reached/],
  [2, 'doctor --etcd-endpoints https://127.0.0.1:1 --etcd-ca @missing', /missing does not exist/],
] as const

test.each(sampled(ON_STORES, ([, line]) => commandOf(line)))(
  'exit code %i: waypost %s',
  async (expected, line, text) => {
    const { code, out, err } = await run(line)
    expect([code, out + err]).toEqual([expected, expect.stringMatching(text)])
    expect(err).not.toMatch(RAW)
  },
)

const ON_A_SERVER = [
  // Zip files and other files.
  [1, 'import --from @missing', /missing does not exist\. Check the name/],
  [1, 'import --from @file', /Nothing of .*file was imported: The zip file is no zip file/],
  [1, 'config import --from @file', /Nothing of .*file was imported/],
  [1, 'import --from @empty', /empty is a directory, and not a file/],
  [1, 'config import --from @empty', /empty is a directory, and not a file/],
  [2, 'export --to @file', /file exists already/],
  [2, 'export --to @missing/a.zip', /The directory .*missing does not exist/],
  [2, 'export --all-namespaces --to @file', /file exists already/],
  [2, 'config put item @missing', /missing does not exist/],
  [2, 'config put item @empty', /empty is a directory, and not a file/],
  [1, 'config apply -f @missing --set s', /missing does not exist/],
  [1, 'config apply -f @file --set s', /file is no directory: items are DIR/],
  [2, 'user add ann --password-file @missing', /missing does not exist/],
  [2, 'user add ann --password-file @empty', /empty is a directory/],
  [2, 'health --settings @missing', /missing does not exist/],
  [2, 'start --settings @missing', /missing does not exist/],
  // Things that the server does not have.
  [1, 'config get nope', /There is no configuration nope/],
  [1, 'config delete nope', /There is no configuration nope/],
  [1, 'config history nope', /nope/],
  [1, 'config restore nope 12', /There is no history record 12/],
  [1, 'config gray explain nope', /There is no configuration nope/],
  [1, 'config gray grow nope v 50', /no gray version v/],
  [1, 'config gray promote nope v', /no gray version v/],
  [1, 'config gray stop nope v', /no gray version v/],
  [1, 'service show nope', /nope not found/],
  [1, 'service instances nope', /nope not found/],
  [1, 'service explain nope', /nope not found/],
  [1, 'service timeline nope', /nope not found/],
  [1, 'service dismiss nope', /nope not found/],
  [2, 'service explain nope --ip zzz', /--ip must be an address such as 10\.0\.0\.7, but is "zzz"/],
  [2, 'config gray explain nope --ip 10.0.0', /--ip must be an address/],
  [1, 'service disable nope 10.0.0.1:80', /nope not found/],
  [1, 'service weight nope 1 10.0.0.1:80', /nope not found/],
  [1, 'switch get nope', /There is no switch/],
  [2, 'switch set nope 1', /entry must name a switch/],
  [1, 'namespace update nope --name x', /There is no namespace nope/],
  [1, 'namespace delete nope', /There is no namespace nope/],
  [1, 'user remove nope', /There is no user nope/],
  [1, 'role add admins nope', /There is no user nope/],
  [1, 'role remove nope', /Nobody has the role nope/],
  [1, 'role remove nope ann', /ann does not have the role nope/],
  [1, 'permission remove nope *:*:* r', /The role nope has no permission r/],
  [1, 'context use nope', /There is no context "nope"/],
  [1, 'context remove nope', /There is no context "nope"/],
  [1, 'logout --context nope', /There is no context "nope"/],
  // Refused requests, and wrong command lines.
  [2, 'switch set pushEnabled perhaps', /must be true or false/],
  [2, 'permission add admins nonsense r', /resource must be/],
  [2, 'service disable shop 10.0.0.1', /is no address: IP:PORT/],
  [2, 'config get', /missing required argument/],
  [2, 'export', /required option '--to <file>' not specified/],
  [2, 'export --to x --url ftp://x', /--server must be an address such as http/],
  [2, 'export --to x --fast', /unknown option '--fast'/],
  [2, 'import', /required option '--from <file>' not specified/],
  [2, 'import --from x --policy merge', /Allowed choices are abort, skip, overwrite/],
  [2, 'nonsense', /unknown command/],
] as const

test.each(sampled(ON_A_SERVER, ([, line]) => commandOf(line)))(
  'exit code %i: waypost %s, on a server',
  async (expected, line, text) => {
    const { code, out, err } = await run(line, signedIn)
    expect([code, out, err]).toEqual([expected, '', expect.stringMatching(text)])
    expect(err).not.toMatch(RAW)
  },
)

const WITHOUT_PERMISSION = [
  ['doctor --data-dir @closed'],
  ['backup --data-dir @closed --to @new'],
  ['user list --data-dir @closed'],
  [`copy-store --from @closed --to etcd ${NO_ETCD.join(' ')}`],
  ['copy-store --salvage --from @closed --to @new'],
  ['copy-store --salvage --from @sound --to @closed/below'],
  ['restore --from @closed --data-dir @new'],
  ['restore --from @backup --data-dir @closed'],
  ['import --from @closed-file'],
  ['user add ann --password-file @closed-file'],
] as const

test.skipIf(setpriv.skip).each(sampled(WITHOUT_PERMISSION))(
  `exit code 2: waypost %s, without permission ${setpriv.reason}`,
  async (line) => {
    mkdirSync(place('closed'), { recursive: true })
    writeFileSync(place('closed-file'), 'text')
    chmodSync(place('closed'), 0)
    chmodSync(place('closed-file'), 0)
    try {
      const { code, err } = await terminal.asOrdinaryUser(wordsOf(line))
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/^waypost: This user has no permission for .*closed/),
      ])
    } finally {
      chmodSync(place('closed'), 0o700)
      rmSync(place('closed-file'), { force: true })
    }
  },
)
