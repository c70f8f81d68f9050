import { type Command, Option } from 'commander'
import { action, addExamples } from '../../command/command-line.ts'
import { addClientOptions, addNamespacedOptions, type ClientFlags } from '../server-options.ts'
import type { AuditFlags } from './audit.ts'
import type { NamespaceTextFlags } from './namespaces.ts'
import type { SwitchFlags } from './servers.ts'

const namespaces = () => import('./namespaces.ts')
const servers = () => import('./servers.ts')

/** The results of events; with `auth=report` there is the last one. */
const RESULTS = ['done', 'refused', 'failed', 'would-be-refused']

/** Adds the commands for a server besides configurations and services: `namespace` to `audit`. */
export function addOperatorCommands(program: Command): void {
  addNamespaces(program)
  addSwitches(program)
  addServers(program)
  addStatus(program)
  addAudit(program)
}

function addNamespaces(program: Command): void {
  const namespace = program
    .command('namespace')
    .summary('list, make, change and delete namespaces')
    .description('Lists and changes namespaces.')
  addClientOptions(
    namespace
      .command('list')
      .description('Lists the namespaces, also those that only hold something.')
      .action(action<ClientFlags>(async (flags) => (await namespaces()).listNamespaces(flags))),
  )
  const changing = (name: 'create' | 'update', description: string): Command =>
    namespace
      .command(name)
      .description(description)
      .argument('<id>', 'the id')
      .option('--name <name>', 'the name for people (default: the id)')
      .option('--description <text>', 'what it is for')
  const create = changing('create', 'Puts a namespace on the list.').action(
    action<NamespaceTextFlags>(async (flags, _, [id]) => (await namespaces()).createNamespace(flags, id!)),
  )
  addClientOptions(create)
  addExamples(create, [['waypost namespace create dev --name Development', '']])
  addClientOptions(
    changing('update', 'Changes the name and the description of a namespace.').action(
      action<NamespaceTextFlags>(async (flags, _, [id]) => (await namespaces()).updateNamespace(flags, id!)),
    ),
  )
  addClientOptions(
    namespace
      .command('delete')
      .description('Takes a namespace off the list. What it holds stays.')
      .argument('<id>', 'the id')
      .action(
        action<ClientFlags>(async (flags, _, [id]) => (await namespaces()).deleteNamespace(flags, id!)),
      ),
  )
}

function addSwitches(program: Command): void {
  const group = program
    .command('switch')
    .summary('see and set the switches of the servers')
    .description('Sees and sets switches: docs/switches.md explains them.')
  addClientOptions(
    group
      .command('list')
      .description('Lists the switches.')
      .action(action<ClientFlags>(async (flags) => (await servers()).listSwitches(flags))),
  )
  addClientOptions(
    group
      .command('get')
      .description('Prints the value of a switch.')
      .argument('<name>', 'the switch')
      .action(action<ClientFlags>(async (flags, _, [name]) => (await servers()).getSwitch(flags, name!))),
  )
  const set = group
    .command('set')
    .description('Sets a switch, on all servers and for good.')
    .argument('<name>', 'the switch')
    .argument('<value>', 'its value')
    .option('--this-server', 'on the server that is asked only, until it restarts')
    .action(action<SwitchFlags>(async (flags, _, words) => (await servers()).setSwitch(flags, words)))
  addClientOptions(set)
  addExamples(set, [['waypost switch set pushEnabled false --this-server', '']])
}

function addServers(program: Command): void {
  const server = program
    .command('server')
    .summary('list the servers')
    .description('About the servers of the installation.')
  addClientOptions(
    server
      .command('list')
      .description(
        'Lists the servers: how long each is there, how old what it knows is, and how far its clock is off.',
      )
      .action(action<ClientFlags>(async (flags) => (await servers()).listServers(flags))),
  )
  const client = program
    .command('client')
    .summary('list the connected clients')
    .description('About clients that are connected.')
  const list = client
    .command('list')
    .description('Lists the clients that are connected to the servers by gRPC.')
    .argument('[text]', 'a part of the address, the application or the user')
    .action(action<ClientFlags>(async (flags, _, [text]) => (await servers()).listClients(flags, text)))
  addClientOptions(list)
}

function addStatus(program: Command): void {
  const status = program
    .command('status')
    .summary('say how a server is')
    .description(
      'Says how a server is, and what needs attention. Exit code 0: ready, 1: not ready or at fault, 2: no answer.',
    )
    .action(action<ClientFlags>(async (flags) => (await import('./status.ts')).statusOf(flags)))
  addNamespacedOptions(status)
  addExamples(status, [['waypost status --context prod', '']])
}

function addAudit(program: Command): void {
  const audit = program
    .command('audit')
    .summary('say who did what')
    .description('Lists what was done and refused, newest first.')
    .option('--user <name>', 'by this user')
    .option('--operation <name>', 'this operation, such as "publish config"')
    .option('--item <text>', 'things with this text in their name')
    .option('--ip <address>', 'from this address')
    .addOption(new Option('--result <result>', 'with this result').choices(RESULTS))
    .option('--since <time>', 'after this time: 2026-11-24T10:00Z, or 30m, 6h, 2d ago')
    .option('--until <time>', 'before this time')
    .option('--limit <count>', 'the most events', '100')
    .action(action<AuditFlags>(async (flags) => (await import('./audit.ts')).auditOf(flags)))
  addClientOptions(audit)
  addExamples(audit, [
    ['waypost audit --user ann --since 2d', ''],
    ['waypost audit --result refused -o json', ''],
  ])
}
