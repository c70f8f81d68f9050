import type { Command } from 'commander'
import { action, addExamples } from '../../command/command-line.ts'
import { addNamespacedOptions } from '../server-options.ts'
import type { GrayExplainFlags } from './explain-gray.ts'
import type { GrayChangeFlags, GrayPublishFlags, GrowFlags } from './gray-configs.ts'

const gray = () => import('./gray-configs.ts')

/** Adds `config gray`. */
export function addGrayCommands(config: Command): void {
  const commands = config
    .command('gray')
    .summary('give a text to some clients')
    .description('Gray versions: texts of an item that some clients get instead of the one for all.')
  addPublish(commands)
  addList(commands)
  addExplain(commands)
  addGrow(commands)
  addEnds(commands)
}

/** A command about one item. */
export function itemCommand(commands: Command, name: string, description: string): Command {
  return commands
    .command(name)
    .description(description)
    .argument('<item>', 'the data id, or GROUP/DATA_ID')
    .option('-g, --group <group>', 'the group (default: DEFAULT_GROUP)')
}

function addPublish(commands: Command): void {
  const publish = itemCommand(commands, 'publish', 'Publishes the bytes of a file for some clients.')
    .argument('<file>', 'the file; - is standard input')
    .option('--name <name>', 'the name of the version; needed with --labels and --percent')
    .option('--ips <addresses>', 'for clients of these addresses, separated by commas')
    .option('--tag <tag>', 'for clients with this tag')
    .option('--labels <expression>', 'for clients with these labels, such as env=test or a=1&&b=2||c=3')
    .option('--percent <share>', 'for a share of all clients, 0 to 100')
    .option('--priority <number>', 'the version with the highest one that matches counts')
    .option('--type <type>', 'the type, where the item has no version for all')
    .option('--cas-md5 <md5>', 'only if the version of this name has this md5')
    .option('--comment <text>', 'why, for those who look at it')
    .option('--force', 'publish it even if readers of its format refuse it')
    .option('--yes', 'replaces a gray version that is out, and asks nobody')
    .action(
      action<GrayPublishFlags>(async (flags, _, [item, file]) =>
        (await gray()).publishGray(flags, item!, file!),
      ),
    )
  addNamespacedOptions(publish)
  addExamples(publish, [
    ['waypost config gray publish app.yaml new.yaml --ips 10.0.0.7,10.0.0.8', ''],
    ['waypost config gray publish app.yaml new.yaml --name v2 --percent 5 --comment "new pool"', ''],
  ])
}

function addList(commands: Command): void {
  const list = commands
    .command('list')
    .description('Lists the gray versions of a namespace that are out, oldest release first.')
    .argument('[item]', 'only those of this item: the data id, or GROUP/DATA_ID')
    .option('-g, --group <group>', 'only this group')
    .action(action<GrayChangeFlags>(async (flags, _, [item]) => (await gray()).listGray(flags, item)))
  addNamespacedOptions(list)
  addExamples(list, [['waypost config gray list -n prod', '']])
}

function addExplain(commands: Command): void {
  const explain = itemCommand(commands, 'explain', 'Says which version of an item a client gets, and why.')
    .option('--ip <address>', 'the address of the client, as `waypost config listeners` prints it')
    .option('--tag <tag>', 'its tag')
    .option('--labels <labels>', 'its labels, such as env=test,instance=shop-1')
    .action(
      action<GrayExplainFlags>(async (flags, _, [item]) =>
        (await import('./explain-gray.ts')).explainGray(flags, item!),
      ),
    )
  addNamespacedOptions(explain)
  addExamples(explain, [['waypost config gray explain app.yaml --ip 10.0.0.7', '']])
}

function addGrow(commands: Command): void {
  const grow = itemCommand(commands, 'grow', 'Gives a gray version to other clients. Its text stays.')
    .argument('<name>', 'the name of the version, as `config gray list` prints it')
    .argument('<expression>', 'for whom: addresses, labels or a share, of the kind that the version has')
    .option('--priority <number>', 'the version with the highest one that matches counts')
    .option('--comment <text>', 'why, for those who look at it')
    .action(action<GrowFlags>(async (flags, _, words) => (await gray()).growGray(flags, words)))
  addNamespacedOptions(grow)
  addExamples(grow, [['waypost config gray grow app.yaml v2 25', 'from 5 to 25 percent of the clients']])
}

function addEnds(commands: Command): void {
  const promote = itemCommand(
    commands,
    'promote',
    'Gives the text of a gray version to all, and ends all gray versions of the item.',
  )
    .argument('[name]', 'the name of the version; not needed if there is one only')
    .option('--cas-md5 <md5>', 'only if the text for all has this md5')
    .option('--comment <text>', 'why, for those who look at the history')
    .action(action<GrayChangeFlags>(async (flags, _, words) => (await gray()).promoteGray(flags, words)))
  addNamespacedOptions(promote)
  addExamples(promote, [['waypost config gray promote app.yaml v2', '']])
  const stop = itemCommand(commands, 'stop', 'Ends a gray version: its clients get what all others get.')
    .argument('[name]', 'the name of the version; not needed if there is one only')
    .option('--cas-md5 <md5>', 'only if the version has this md5')
    .option('--comment <text>', 'why, for those who look at the history')
    .action(action<GrayChangeFlags>(async (flags, _, words) => (await gray()).stopGray(flags, words)))
  addNamespacedOptions(stop)
  addExamples(stop, [['waypost config gray stop app.yaml v2', '']])
}
