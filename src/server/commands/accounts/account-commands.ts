import type { Command } from 'commander'
import { addServerOptions } from '../../../terminal/server-options.ts'
import { action, addExamples } from '../../../command/command-line.ts'
import { outputOption } from '../../../command/output.ts'
import { etcdOptions } from '../server-commands.ts'
import type { WithStoredAccounts } from './accounts.ts'
import type { AddFlags, PlaceFlags } from './user.ts'

type WithStored = () => Promise<WithStoredAccounts>

/** Adds `user` and `key`. The store is joined by main.ts. */
export function addAccountCommands(program: Command, withStored: WithStored): void {
  program.commandsGroup('Users and rights:')
  addUser(program, withStored)
  addKey(program, withStored)
}

/** The work of the commands, loaded when one runs. */
async function accountCommands(withStored: WithStored) {
  return new (await import('./user.ts')).AccountCommands(await withStored())
}

function addUser(program: Command, withStored: WithStored): void {
  const commands = () => accountCommands(withStored)
  const user = program
    .command('user')
    .summary('manage users, on a server or in a store')
    .description(
      'Manages users: on a running server, in the directory of a stopped one (--data-dir), or in etcd (--etcd-endpoints). ' +
        'Passwords come from a prompt, or from standard input, one a line: your own first, where you sign in by one.',
    )
  const add = place(
    user
      .command('add')
      .description('Makes a user, who may do nothing yet.')
      .argument('<name>', 'the name of the user')
      .option('--admin', 'make the user an administrator')
      .option('--first', 'make the first administrator of a store; do nothing where there is one')
      .option('--password-file <file>', 'read the password of the user from the first line of this file'),
  ).action(action<AddFlags>(async (flags, _, [name]) => (await commands()).add(name!, flags)))
  addExamples(add, [
    ['waypost user add ann --admin --data-dir /var/lib/waypost', 'before the first start'],
    [
      'waypost user add ann --first --password-file /run/secrets/ann --data-dir /var/lib/waypost',
      'at each start of a container',
    ],
    ['waypost user add bob', 'on the server of the current context'],
    [`printf '%s\\n' "$NEW" | waypost user add shop-api`, 'from a script'],
  ])
  place(
    user
      .command('password')
      .description('Gives a user a new password.')
      .argument('<name>', 'the name of the user'),
  ).action(action<PlaceFlags>(async (flags, _, [name]) => (await commands()).setPassword(name!, flags)))
  place(user.command('list').description('Lists the users with their roles.')).action(
    action<PlaceFlags>(async (flags) => (await commands()).list(flags)),
  )
  place(
    user
      .command('remove')
      .description('Removes a user with its roles. The last administrator stays.')
      .argument('<name>', 'the name of the user'),
  ).action(action<PlaceFlags>(async (flags, _, [name]) => (await commands()).remove(name!, flags)))
  addExamples(user, [
    ['waypost user list', ''],
    ['waypost user password ann --data-dir /var/lib/waypost', 'where nobody knows the password'],
  ])
}

function addKey(program: Command, withStored: WithStored): void {
  const key = program
    .command('key')
    .summary('manage the key that signs tokens, and the secret of servers')
    .description(
      'Manages the key that signs tokens, and the secret by which several servers know each other.',
    )
  const rotate = place(
    key
      .command('rotate')
      .description('Signs new tokens with another key.')
      .option('--leaked', 'end all tokens of the old key at once'),
  ).action(action<PlaceFlags>(async (flags) => (await accountCommands(withStored)).rotateKey(flags)))
  addExamples(rotate, [['waypost key rotate --leaked', 'everybody signs in again']])
  const peers = etcdOptions(
    key
      .command('rotate-peers')
      .description(
        'Gives the servers on an etcd another secret for what they ask each other. They work meanwhile.',
      ),
  )
    .addOption(outputOption())
    .option('--json', 'the same as --output json')
    .action(action<PlaceFlags>(async (flags) => (await accountCommands(withStored)).rotatePeerSecret(flags)))
  addExamples(peers, [['waypost key rotate-peers --etcd-endpoints http://10.0.0.1:2379', 'no server stops']])
}

function place(command: Command): Command {
  addServerOptions(command)
  command.optionsGroup('Store:').option('--data-dir <dir>', 'the directory of a stopped server')
  return etcdOptions(command)
    .optionsGroup('Options:')
    .addOption(outputOption())
    .option('--json', 'the same as --output json')
}
