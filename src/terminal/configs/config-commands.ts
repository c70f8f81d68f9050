import type { Command } from 'commander'
import type { ExportFlags } from '../transfer/export-configs.ts'
import type { ImportFlags } from '../transfer/import-configs.ts'
import { addExportOptions, addImportOptions } from '../transfer/transfer-commands.ts'
import { action, addExamples } from '../../command/command-line.ts'
import { addNamespacedOptions } from '../server-options.ts'
import type { WatchFlags } from '../live-events.ts'
import type { ApplyFlags } from './apply/apply-configs.ts'
import type { EditFlags } from './edit-config.ts'
import { addGrayCommands, itemCommand } from './gray-commands.ts'
import type { ItemFlags } from './item.ts'
import type { DiffFlags, GetFlags, ListFlags } from './read-configs.ts'
import type { DeleteFlags, PutFlags } from './write-configs.ts'

const reading = () => import('./read-configs.ts')
const writing = () => import('./write-configs.ts')

/** Adds `config`. */
export function addConfigCommands(program: Command): void {
  const config = program
    .command('config')
    .summary('read and change configurations')
    .description(
      'Reads and changes configurations. An item is named by its data id, in the group of --group (default: DEFAULT_GROUP), or ' +
        'as GROUP/DATA_ID, as lists print it.',
    )
  addReading(config)
  addComparing(config)
  addPut(config)
  addEdit(config)
  addRemoving(config)
  addWatch(config)
  addGrayCommands(config)
  addApply(config)
  addTransfer(config)
}

function addReading(config: Command): void {
  const get = itemCommand(config, 'get', 'Prints the bytes of an item, and nothing else.')
    .option('--version <id>', 'those of this version of `config history`')
    .action(action<GetFlags>(async (flags, _, [item]) => (await reading()).getConfig(flags, item!)))
  addNamespacedOptions(get)
  addExamples(get, [
    ['waypost config get app.yaml > app.yaml', ''],
    ['waypost config get SHOP/db.properties -n prod -o json', 'with all that is known of it'],
  ])
  const list = config
    .command('list')
    .description('Lists the items of a namespace.')
    .argument('[text]', 'a part of the name, the group, the description, the application or a tag')
    .option('-g, --group <group>', 'only this group')
    .option('--type <type>', 'only this type, such as yaml')
    .option('--tag <tags>', 'only items with these tags')
    .option('--content <text>', 'only items whose content has this text')
    .action(action<ListFlags>(async (flags, _, [text]) => (await reading()).listConfigs(flags, text)))
  addNamespacedOptions(list)
  addExamples(list, [
    ['waypost config list', ''],
    ['waypost config list -o name --content jdbc: | xargs waypost config delete', ''],
  ])
  const listeners = itemCommand(
    config,
    'listeners',
    'Lists the clients that listen for an item, and which version each has.',
  ).action(
    action<ItemFlags>(async (flags, _, [item]) => (await import('./listeners.ts')).listenersOf(flags, item!)),
  )
  addNamespacedOptions(listeners)
  addExamples(listeners, [['waypost config listeners app.yaml', '']])
  const history = itemCommand(config, 'history', 'Lists the versions of an item, newest first.').action(
    action<ItemFlags>(async (flags, _, [item]) => (await reading()).historyOf(flags, item!)),
  )
  addNamespacedOptions(history)
  addExamples(history, [['waypost config history app.yaml', '* marks the version that clients get']])
}

function addComparing(config: Command): void {
  const diff = config
    .command('diff')
    .description(
      'Shows what differs: between an item and a file, versions, or namespaces. Exit code 0: equal, 1: different.',
    )
    .argument('[item]', 'the data id, or GROUP/DATA_ID; without it, whole namespaces are compared')
    .argument('[file]', 'the file to compare with; - is standard input')
    .option('-g, --group <group>', 'the group (default: DEFAULT_GROUP)')
    .option('--version <id>', 'from this version')
    .option('--with <id>', 'to this version (default: the current one)')
    .option('--to <namespace>', 'to the same item in this namespace, or to this namespace')
    .action(action<DiffFlags>(async (flags, _, words) => (await reading()).diffConfigs(flags, words)))
  addNamespacedOptions(diff)
  addExamples(diff, [
    ['waypost config diff app.yaml app.yaml', 'what a put of this file would change'],
    ['waypost config diff app.yaml --version 1838614160194560', 'what has changed since then'],
    ['waypost config diff -n dev --to prod', 'which items differ between two namespaces'],
  ])
}

function addPut(config: Command): void {
  const put = itemCommand(config, 'put', 'Publishes the bytes of a file.')
    .argument('<file>', 'the file; - is standard input')
    .option('--create', 'only if there is no such item (exit code 1: there is one)')
    .option('--cas-md5 <md5>', 'only if the current content has this md5 (exit code 1: it has another)')
    .option('--type <type>', 'the type, such as yaml')
    .option('--desc <text>', 'a description')
    .option('--app <name>', 'the application')
    .option('--tags <tags>', 'tags, separated by commas')
    .option('--comment <text>', 'why, for those who look at the history')
    .option('--force', 'publish it even if readers of its format refuse it')
    .option('--wait', 'wait until each client that listens has it (exit code 1: some have not)')
    .option('--timeout <seconds>', 'how long to wait', '60')
    .action(
      action<PutFlags>(async (flags, _, [item, file]) => (await writing()).putConfig(flags, item!, file!)),
    )
  addNamespacedOptions(put)
  addExamples(put, [
    ['waypost config put app.yaml app.yaml --type yaml --comment "longer timeout"', ''],
    ['render | waypost config put SHOP/app.yaml - -n prod', ''],
    ['waypost config put app.yaml app.yaml --wait', 'ends when the clients that listen have it'],
  ])
}

function addEdit(config: Command): void {
  const edit = itemCommand(
    config,
    'edit',
    'Opens an item in $VISUAL or $EDITOR, shows what differs, asks, and publishes it.',
  )
    .option('--comment <text>', 'why, for those who look at the history')
    .option('--force', 'publish it even if readers of its format refuse it')
    .option('--yes', 'publish without asking; needed without a terminal')
    .action(
      action<EditFlags>(async (flags, _, [item]) =>
        (await import('./edit-config.ts')).editConfig(flags, item!),
      ),
    )
  addNamespacedOptions(edit)
  addExamples(edit, [
    ['waypost config edit app.yaml', 'exit code 1: somebody else has changed it meanwhile'],
    ['EDITOR=nano waypost config edit app.yaml', ''],
  ])
}

function addRemoving(config: Command): void {
  const remove = config
    .command('delete')
    .description('Deletes items. `config restore` brings them back.')
    .argument('<items...>', 'data ids, or GROUP/DATA_ID')
    .option('-g, --group <group>', 'the group (default: DEFAULT_GROUP)')
    .option('--cas-md5 <md5>', 'only if the current content has this md5')
    .option('--comment <text>', 'why, for those who look at the history')
    .option('--yes', 'delete without asking; without a terminal nobody is asked')
    .action(action<DeleteFlags>(async (flags, _, items) => (await writing()).deleteConfig(flags, items)))
  addNamespacedOptions(remove)
  const restore = itemCommand(
    config,
    'restore',
    'Publishes the text of a version once more, also of a deleted item.',
  )
    .argument('<version>', 'a version of `config history`')
    .option('--cas-md5 <md5>', 'only if the current content has this md5')
    .option('--comment <text>', 'why, for those who look at the history')
    .action(action<PutFlags>(async (flags, _, words) => (await writing()).restoreConfig(flags, words)))
  addNamespacedOptions(restore)
  addExamples(restore, [['waypost config restore app.yaml 1838614160194560', '']])
}

function addWatch(config: Command): void {
  const watch = config
    .command('watch')
    .description('Prints changes as they come, a line each, until it is interrupted.')
    .argument('[items...]', 'only these items')
    .option('-g, --group <group>', 'only this group')
    .option('--once', 'end after the first change')
    .action(
      action<ItemFlags & WatchFlags>(async (flags, _, items) =>
        (await import('./watch-configs.ts')).watchConfigs(flags, items),
      ),
    )
  addNamespacedOptions(watch)
  addExamples(watch, [
    ['waypost config watch', 'the whole namespace'],
    ['waypost config watch app.yaml -o json', 'a line of JSON for each change'],
  ])
}

function addApply(config: Command): void {
  const apply = config
    .command('apply')
    .summary('make a namespace what a directory is')
    .description(
      'Makes a namespace what a directory is: shows a plan, asks, and carries it out, each item only if it is still as planned. ' +
        'Items are DIR/GROUP/DATA_ID, with .metadata.yml as in an export. The set remembers what it has published, ' +
        'in an item of the group waypost.sets.',
    )
    .requiredOption('-f, --file <dir>', 'the directory')
    .requiredOption('--set <name>', 'the name of the set: the same for each apply of this directory')
    .option(
      '--prune',
      'delete what an earlier apply of the set has published, and the directory has no longer',
    )
    .option('--dry-run', 'only show the plan (exit code 1: something would change)')
    .option('--diff', 'show what changes in each content')
    .option('--force', 'publish texts too that readers of their format refuse')
    .option('--yes', 'do not ask; without a terminal, deletions need it')
    .option('-g, --group <group>', 'the group of items that are directly in DIR (default: DEFAULT_GROUP)')
    .option('--comment <text>', 'why, for those who look at the history')
    .action(
      action<ApplyFlags>(async (flags, progress) =>
        (await import('./apply/apply-configs.ts')).applyConfigs(flags, progress),
      ),
    )
  addNamespacedOptions(apply)
  addExamples(apply, [
    ['waypost config apply -f config/prod --set shop -n prod --dry-run --diff', 'what would change'],
    ['waypost config apply -f config/prod --set shop -n prod --prune --yes', 'in a pipeline'],
  ])
}

function addTransfer(config: Command): void {
  const exporting = addExportOptions(
    config.command('export').description('Writes the items of a namespace into a zip file.'),
  ).action(
    action<ExportFlags>(async (flags, progress) =>
      (await import('../transfer/export-configs.ts')).exportConfigs(flags, progress, '/svc/v1'),
    ),
  )
  addExamples(exporting, [['waypost config export -n dev --to - > dev.zip', '- is standard output']])
  const importing = addImportOptions(
    config.command('import').description('Publishes the items of such a zip file.'),
  ).action(
    action<ImportFlags>(async (flags, progress) =>
      (await import('../transfer/import-configs.ts')).importConfigs(flags, progress),
    ),
  )
  addExamples(importing, [['waypost config import -n test --from dev.zip --policy overwrite --dry-run', '']])
}
