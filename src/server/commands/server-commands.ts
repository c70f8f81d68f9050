import { type Command, Option } from 'commander'
import type { DirectoryTools } from '../../store/local-file.ts'
import { action, plainAction, addExamples } from '../../command/command-line.ts'
import { addServerOptions } from '../../terminal/server-options.ts'
import { outputOption } from '../../command/output.ts'
import type { BackupFlags } from './backup.ts'
import type { DevFlags } from './dev.ts'
import type { DoctorFlags } from './doctor.ts'
import type { HealthFlags } from './health.ts'
import type { RestoreFlags } from './restore.ts'
import type { CopyFlags } from './copy-store.ts'
import type { EtcdFlags, StoreCopies } from './stopped-server.ts'
import { addSettingOptions, givenSettings } from './start-options.ts'
import type { StartServer } from './start.ts'

/** The parts that main.ts joins to these commands. */
export interface ServerParts {
  readonly startServer: StartServer
  /** Loaded on demand, so that a start does not wait for it. */
  readonly directoryTools: () => Promise<DirectoryTools>
  readonly storeCopies: () => Promise<StoreCopies>
}

/** Adds the commands that run a server, or work on the directory of a stopped server. */
export function addServerCommands(program: Command, parts: ServerParts): void {
  const { startServer, directoryTools, storeCopies } = parts
  const stores = async (): Promise<Stores> => ({ tools: await directoryTools(), copies: await storeCopies() })
  program.commandsGroup('Run a server:')
  addStart(program, startServer)
  addDev(program, startServer)
  addHealth(program)
  addBackup(program, stores)
  addRestore(program, stores)
  addDoctor(program, stores)
  addCopyStore(program, storeCopies)
  addConfirmEmpty(program, storeCopies)
}

function addStart(program: Command, startServer: StartServer): void {
  const start = program
    .command('start')
    .summary('start the server in this process')
    .description(
      'Starts the server in this process. SIGTERM or SIGINT stops it. Each setting is a flag (--port 8848), an environment ' +
        'variable (WAYPOST_PORT=8848) or a line of a file. A flag wins over a variable, and this over the file.',
    )
    .option('--settings <file>', 'a file of settings: JSON, or lines name=value (or WAYPOST_SETTINGS)')
  addSettingOptions(start)
  // Two names of settings are very long: they alone reach into the column of the meanings.
  start.configureHelp({ ...start.configureHelp(), padWidth: () => 32 })
  start.action(
    plainAction(async (_, command) =>
      (await import('./start.ts')).start(givenSettings(command), startServer),
    ),
  )
  addExamples(start, [
    ['waypost start', 'on 127.0.0.1:8848, with its data in ./data'],
    ['waypost start --auth --data-dir /var/lib/waypost', 'callers sign in'],
    ['WAYPOST_PORT=9000 waypost start --settings waypost.conf', 'settings from three places'],
  ])
}

function addDev(program: Command, startServer: StartServer): void {
  const command = program
    .command('dev')
    .summary('start an empty server for trying; its data go when it ends')
    .description(
      'Starts an empty server on this machine, where nobody signs in. Its console offers a sample. Ctrl-C ends it, and its data ' +
        'are gone. `start` is for everything that should stay.',
    )
    .option('--port <port>', 'its port; clients of 2.x and 3.x use the one 1000 above, too')
  command.action(plainAction<DevFlags>(async (flags) => (await import('./dev.ts')).dev(flags, startServer)))
  addExamples(command, [
    ['waypost dev', 'on 127.0.0.1:8848'],
    ['waypost dev --port 9000', 'beside another server'],
  ])
}

function addHealth(program: Command): void {
  const command = program
    .command('health')
    .summary('say whether the server on this machine answers')
    .description(
      'Asks the server with the same environment or settings file, on this machine, whether it answers. It needs no ' +
        'sign-in: it is for the health checks of containers. Exit code 0: yes, 1: no.',
    )
    .option('--ready', 'ask whether the server should get requests, too: its store can write')
    .option('--port <port>', 'the port, where a flag of `start` has set it')
    .option('--settings <file>', 'the file of settings (or WAYPOST_SETTINGS)')
  command.action(action<HealthFlags>(async (flags) => (await import('./health.ts')).health(flags)))
  addExamples(command, [
    ['waypost health', ''],
    ['waypost health --ready --settings /etc/waypost/waypost.conf', ''],
  ])
}

interface Stores {
  readonly tools: DirectoryTools
  readonly copies: StoreCopies
}

type Tools = () => Promise<Stores>

function addBackup(program: Command, stores: Tools): void {
  const backup = program
    .command('backup')
    .summary('copy the store of a server, and verify the copy')
    .description(
      'Copies the store of a running server, that of a stopped one (--data-dir), or that of servers on etcd, and verifies the copy.',
    )
    .option('--data-dir <dir>', 'the data directory of a stopped server')
    .option('--to <dir>', 'the directory to write')
    .option('--label <word>', 'a part of the name of the backup')
  addStoreOptions(backup)
  addServerOptions(backup)
  backup.action(
    action<BackupFlags>(async (flags, progress) =>
      (await import('./backup.ts')).backup(await stores(), flags, progress),
    ),
  )
  addExamples(backup, [
    ['waypost backup --to /backups/2026-11-24', 'of the server of the current context'],
    [
      'waypost backup --server https://waypost.example:8848 --label nightly',
      'in the backup directory of that server',
    ],
    ['waypost backup --data-dir /var/lib/waypost --to /backups/stopped', 'of a stopped server'],
    ['waypost backup --etcd-endpoints http://10.0.0.1:2379 --to /backups/cluster', 'of servers on etcd'],
  ])
}

function addRestore(program: Command, stores: Tools): void {
  const restore = program
    .command('restore')
    .summary('verify a backup, and copy it into a new data directory or etcd')
    .description(
      'Verifies a backup and copies it into a new data directory, or into an empty prefix of etcd.',
    )
    .requiredOption('--from <dir>', 'the directory of the backup')
    .option('--data-dir <dir>', 'the new data directory')
  addStoreOptions(restore)
  restore.action(
    action<RestoreFlags>(async (flags, progress) =>
      (await import('./restore.ts')).restore(await stores(), flags, progress),
    ),
  )
  addExamples(restore, [
    ['waypost restore --from /backups/2026-11-24 --data-dir /var/lib/waypost', ''],
    [
      'waypost restore --from /backups/2026-11-24 --etcd-endpoints http://10.0.0.1:2379',
      'for servers on etcd',
    ],
  ])
}

function addDoctor(program: Command, stores: Tools): void {
  const doctor = program
    .command('doctor')
    .summary('check every record of the store of a stopped server, or of etcd')
    .description(
      'Checks every record of the store of a stopped server, or of a store in etcd, without writing.',
    )
    .option('--data-dir <dir>', 'the directory to examine')
  addStoreOptions(doctor)
  doctor.action(
    action<DoctorFlags>(async (flags, progress) =>
      (await import('./doctor.ts')).doctor(await stores(), flags, progress),
    ),
  )
  addExamples(doctor, [
    ['waypost doctor --data-dir /var/lib/waypost', 'exit code 1: damaged'],
    ['waypost doctor --store etcd --etcd-endpoints http://10.0.0.1:2379', 'while servers work on it, too'],
  ])
}

function addCopyStore(program: Command, storeCopies: ServerParts['storeCopies']): void {
  const copy = program
    .command('copy-store')
    .summary('copy a store from a directory into etcd, or back; or what is sound in a damaged one')
    .description(
      'Copies configurations with their history, services, persistent instances, namespaces, users and keys, with their ids and ' +
        'times. Sessions and ephemeral instances are left out. The target must be empty. A copy that was interrupted is continued ' +
        'by the same command; until it is whole, no server starts on it. With --salvage the source may be damaged, and both ' +
        'places may be directories: everything that can be read and breaks no rule is copied, and the rest is named. ' +
        'Nothing is written into the source. Exit code 1: something was left out.',
    )
    .argument('[from]', 'the same as --from')
    .argument('[to]', 'the same as --to')
    .option('--from <place>', 'a data directory of a stopped server, a backup, or `etcd`')
    .option('--to <place>', 'a new data directory, or `etcd`')
    .option('--salvage', 'copy what is sound in a damaged store')
  addEtcdOptions(copy)
  copy.action(
    action<CopyFlags>(async (flags, progress, words) =>
      (await import('./copy-store.ts')).copyStore(await storeCopies(), { ...flags, words }, progress),
    ),
  )
  addExamples(copy, [
    [
      'waypost copy-store --from /var/lib/waypost --to etcd --etcd-endpoints http://10.0.0.1:2379',
      'from one server to several',
    ],
    ['waypost copy-store --from etcd --to /var/lib/waypost --etcd-endpoints http://10.0.0.1:2379', 'back'],
    [
      'waypost copy-store --salvage --from /var/lib/waypost --to /var/lib/waypost-salvaged',
      'of a damaged one',
    ],
  ])
}

function addConfirmEmpty(program: Command, storeCopies: ServerParts['storeCopies']): void {
  const confirm = program
    .command('confirm-empty')
    .summary('tell servers on etcd that the loss of their data there is meant')
    .description(
      'Servers whose data are gone from etcd answer from memory and refuse changes, until the data are back. This command says ' +
        'that they are lost for good: the servers forget them, and begin again with the keys that are left under the prefix. ' +
        'It is refused where no server misses data.',
    )
  addEtcdOptions(confirm)
  confirm.action(
    action<EtcdFlags>(async (flags) =>
      (await import('./confirm-empty.ts')).confirmEmptyStore(await storeCopies(), flags),
    ),
  )
  addExamples(confirm, [['waypost confirm-empty --etcd-endpoints http://10.0.0.1:2379', 'all data are lost']])
}

/** The format of the output, and the place of etcd. */
function addStoreOptions(command: Command): void {
  command.addOption(new Option('--store <kind>', 'where the data is').choices(['embedded', 'etcd']))
  addEtcdOptions(command)
}

function addEtcdOptions(command: Command): void {
  etcdOptions(command).addOption(outputOption()).option('--json', 'the same as --output json')
}

/** Adds the flags for the place of etcd and the credentials. */
export function etcdOptions(command: Command): Command {
  return command
    .option('--etcd-endpoints <urls>', 'the members of etcd, where servers keep their data there')
    .option('--etcd-prefix <prefix>', 'what the keys there begin with')
    .option('--etcd-user <name>', 'the user of etcd; its password may be in WAYPOST_ETCD_PASSWORD')
    .option('--etcd-password-file <file>', 'the password of that user')
    .option('--etcd-ca <file>', 'the authorities of the certificates of etcd')
    .option('--etcd-cert <file>', 'the certificate to show to etcd')
    .option('--etcd-key <file>', 'the key of that certificate')
    .option('--secrets-key-file <file>', 'the keys that decrypt secrets there; or set WAYPOST_SECRETS_KEYS')
}
