import type { Command } from 'commander'
import { action, addExamples } from '../command/command-line.ts'
import { outputOption } from '../command/output.ts'
import type { ContextFlags, LoginFlags } from './contexts.ts'

/** Adds `login`, `logout` and `context`. */
export function addSessionCommands(program: Command): void {
  program.commandsGroup('Work with a server:')
  addLogin(program)
  addContext(program)
}

const contexts = () => import('./contexts.ts')

function addLogin(program: Command): void {
  const login = program
    .command('login')
    .summary('sign in to a server, and remember it')
    .description(
      'Signs in to a server and stores the token, with the address, as a context in a file that only you can read. ' +
        'The password comes from a prompt, from standard input or from WAYPOST_PASSWORD. It is not stored.',
    )
    .argument('[server]', 'the address of the server, such as localhost:8848 (or WAYPOST_SERVER)')
    .option('--server <url>', 'the same')
    .option('--context <name>', 'the name of the context (default: the known one, or the host of the server)')
    .option('--username <name>', 'the user (default: that of the context, or a prompt)')
    .option('-n, --namespace <id>', 'the namespace of commands that name none')
    .action(action<LoginFlags>(async (flags, _, [server]) => (await contexts()).login(flags, server)))
  addExamples(login, [
    ['waypost login https://waypost.example:8848 --username ann', ''],
    ['waypost login --context prod', 'again, when the token has ended'],
  ])
  program
    .command('logout')
    .summary('forget the token of a context')
    .description('Forgets the token of a context.')
    .option('--context <name>', 'the context (default: the current one)')
    .action(action<LoginFlags>(async (flags) => (await contexts()).logout(flags)))
}

function addContext(program: Command): void {
  const context = program
    .command('context')
    .summary('choose between servers')
    .description(
      'A context is a server under a name, with a namespace and a user. Other commands work with the current one.',
    )
  context
    .command('list')
    .description('Lists the contexts; * marks the current one.')
    .addOption(outputOption())
    .action(action(async () => (await contexts()).listContexts()))
  context
    .command('use')
    .description('Makes a context the current one.')
    .argument('<name>', 'the context')
    .action(action(async (_flags, _progress, [name]) => (await contexts()).useContext(name!)))
  const set = context
    .command('set')
    .description('Makes or changes a context, without signing in.')
    .argument('<name>', 'the context')
    .option('--server <url>', 'the address of the server')
    .option('-n, --namespace <id>', 'the namespace of commands that name none')
    .option('--username <name>', 'the user who signs in')
    .action(action<ContextFlags>(async (flags, _, [name]) => (await contexts()).setContext(name!, flags)))
  addExamples(set, [['waypost context set dev --server http://127.0.0.1:8848 --namespace dev', '']])
  context
    .command('remove')
    .description('Removes a context with its token.')
    .argument('<name>', 'the context')
    .action(action(async (_flags, _progress, [name]) => (await contexts()).removeContext(name!)))
}
