import { type Command, Argument } from 'commander'
import { action, addExamples } from '../../command/command-line.ts'
import { addClientOptions } from '../server-options.ts'
import type { RightsFlags } from './rights.ts'

const rights = () => import('./rights.ts')

/** Adds `role` and `permission`. */
export function addAccessCommands(program: Command): void {
  addRoles(program)
  addPermissions(program)
}

function addRoles(program: Command): void {
  const role = program
    .command('role')
    .summary('give roles to users')
    .description('Gives roles to users, and takes them away.')
  addClientOptions(
    role
      .command('list')
      .description('Lists which user has which role.')
      .option('--user <name>', 'only of this user')
      .action(action<RightsFlags>(async (flags) => (await rights()).listRoles(flags))),
  )
  const add = role
    .command('add')
    .description('Gives a role to a user.')
    .argument('<role>', 'the role; ROLE_ADMIN may do everything')
    .argument('<user>', 'the user')
    .action(action<RightsFlags>(async (flags, _, words) => (await rights()).addRole(flags, words)))
  addClientOptions(add)
  addExamples(add, [['waypost role add deploy ci-bot', '']])
  addClientOptions(
    role
      .command('remove')
      .description('Takes a role from a user; without a user, from everybody, with its permissions.')
      .argument('<role>', 'the role')
      .argument('[user]', 'the user')
      .action(action<RightsFlags>(async (flags, _, words) => (await rights()).removeRole(flags, words))),
  )
}

function addPermissions(program: Command): void {
  const permission = program
    .command('permission')
    .summary('say what roles may do')
    .description('Says what roles may do: docs/security.md explains resources, such as dev:*:config/*.')
  addClientOptions(
    permission
      .command('list')
      .description('Lists the permissions of roles.')
      .option('--role <name>', 'only of this role')
      .action(action<RightsFlags>(async (flags) => (await rights()).listPermissions(flags))),
  )
  const change = (name: 'add' | 'remove', description: string): Command =>
    permission
      .command(name)
      .description(description)
      .argument('<role>', 'the role')
      .argument('<resource>', 'the resource, such as dev:*:config/*')
      .addArgument(new Argument('<action>', 'read, write or both').choices(['r', 'w', 'rw']))
  const add = change('add', 'Permits something to a role.').action(
    action<RightsFlags>(async (flags, _, words) => (await rights()).addPermission(flags, words)),
  )
  addClientOptions(add)
  addExamples(add, [["waypost permission add deploy 'dev:*:config/*' w", '']])
  addClientOptions(
    change('remove', 'Takes a permission from a role.').action(
      action<RightsFlags>(async (flags, _, words) => (await rights()).removePermission(flags, words)),
    ),
  )
}
