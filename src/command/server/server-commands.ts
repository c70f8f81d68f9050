import { type Command, Option } from 'commander'
import type { DirectoryTools } from '../../store/local-file.ts'
import { action, plainAction } from '../command-line.ts'
import { addExamples } from '../help.ts'
import { addServerOptions } from '../client/server-options.ts'
import { outputOption } from '../output.ts'
import type { BackupFlags } from './backup.ts'
import type { DoctorFlags } from './doctor.ts'
import type { HealthFlags } from './health.ts'
import type { RestoreFlags } from './restore.ts'
import { addSettingOptions, givenSettings } from './start-options.ts'
import type { StartServer } from './start.ts'

/** What main.ts joins to these commands. */
export interface ServerParts {
  readonly startServer: StartServer
  /** Loaded on demand, so that a start does not wait for it. */
  readonly directoryTools: () => Promise<DirectoryTools>
}

/** Adds the commands that run a server, or work on the directory of a stopped one. */
export function addServerCommands(program: Command, { startServer, directoryTools }: ServerParts): void {
  program.commandsGroup('Run a server:')
  addStart(program, startServer)
  addHealth(program)
  addBackup(program, directoryTools)
  addRestore(program, directoryTools)
  addDoctor(program, directoryTools)
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

type Tools = ServerParts['directoryTools']

function addBackup(program: Command, directoryTools: Tools): void {
  const backup = program
    .command('backup')
    .summary('copy the store of a server, and verify the copy')
    .description(
      'Copies the store of a running server, or that of a stopped one (--data-dir), and verifies the copy.',
    )
    .option('--data-dir <dir>', 'the data directory of a stopped server')
    .option('--to <dir>', 'the directory to write')
    .option('--label <word>', 'a part of the name of the backup')
  addStoreOptions(backup)
  addServerOptions(backup)
  backup.action(
    action<BackupFlags>(async (flags, progress) =>
      (await import('./backup.ts')).backup(await directoryTools(), flags, progress),
    ),
  )
  addExamples(backup, [
    ['waypost backup --to /backups/2026-11-24', 'of the server of the current context'],
    [
      'waypost backup --server https://waypost.example:8848 --label nightly',
      'in the backup directory of that server',
    ],
    ['waypost backup --data-dir /var/lib/waypost --to /backups/stopped', 'of a stopped server'],
  ])
}

function addRestore(program: Command, directoryTools: Tools): void {
  const restore = program
    .command('restore')
    .summary('verify a backup, and copy it into a new data directory')
    .description('Verifies a backup and copies it into a new data directory.')
    .requiredOption('--from <dir>', 'the directory of the backup')
    .option('--data-dir <dir>', 'the new data directory')
  addStoreOptions(restore)
  restore.action(
    action<RestoreFlags>(async (flags, progress) =>
      (await import('./restore.ts')).restore(await directoryTools(), flags, progress),
    ),
  )
  addExamples(restore, [['waypost restore --from /backups/2026-11-24 --data-dir /var/lib/waypost', '']])
}

function addDoctor(program: Command, directoryTools: Tools): void {
  const doctor = program
    .command('doctor')
    .summary('check every record of the store of a stopped server')
    .description('Checks every record of the store of a stopped server, without writing.')
    .option('--data-dir <dir>', 'the directory to examine')
    .option('--repair <newdir>', 'save there what is sound')
  addStoreOptions(doctor)
  doctor.action(
    action<DoctorFlags>(async (flags, progress) =>
      (await import('./doctor.ts')).doctor(await directoryTools(), flags, progress),
    ),
  )
  addExamples(doctor, [
    ['waypost doctor --data-dir /var/lib/waypost', 'exit code 1: damaged'],
    ['waypost doctor --data-dir /var/lib/waypost --repair /var/lib/waypost-repaired', ''],
  ])
}

/** How to print, and the flags with which other commands find data in etcd: these commands say what to do there. */
function addStoreOptions(command: Command): void {
  command
    .addOption(outputOption())
    .option('--json', 'the same as --output json')
    .addOption(new Option('--etcd-endpoints <urls>').hideHelp())
    .addOption(new Option('--etcd-prefix <prefix>').hideHelp())
}
