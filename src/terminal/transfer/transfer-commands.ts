import { type Command, Option } from 'commander'
import { addNamespaceOption, addServerOptions } from '../server-options.ts'
import { action, addExamples } from '../../command/command-line.ts'
import { outputOption } from '../../command/output.ts'
import type { ExportFlags } from './export-configs.ts'
import type { ImportFlags } from './import-configs.ts'

/** Adds the transfer of configurations as zip files, also from and to other servers that have the interface under `/nacos`. */
export function addTransferCommands(program: Command): void {
  program.commandsGroup('Move configurations between servers:')
  const exporting = addExportOptions(
    program
      .command('export')
      .summary('write the configurations of a namespace into a zip file')
      .description(
        'Writes the configurations of a namespace into a zip file, from a Waypost or Nacos server.',
      ),
  ).action(
    action<ExportFlags>(async (flags, progress) =>
      (await import('./export-configs.ts')).exportConfigs(flags, progress, '/nacos/v1'),
    ),
  )
  addExamples(exporting, [
    ['waypost export --namespace dev --to dev.zip', ''],
    ['waypost export --server http://nacos.example:8848 --all-namespaces --to zips', 'from a Nacos server'],
  ])
  const importing = addImportOptions(
    program
      .command('import')
      .summary('publish the configurations of such a file')
      .description('Publishes the configurations of such a zip file in a namespace.'),
  ).action(
    action<ImportFlags>(async (flags, progress) =>
      (await import('./import-configs.ts')).importConfigs(flags, progress),
    ),
  )
  addExamples(importing, [['waypost import --namespace dev --from dev.zip --policy skip', '']])
}

/** The flags of an export. */
export function addExportOptions(command: Command): Command {
  command
    .requiredOption(
      '--to <file>',
      'the zip file to write, - is standard output; with --all-namespaces a directory',
    )
    .option('--all-namespaces', 'write a file for each namespace')
    .option('-g, --group <group>', 'only this group; * matches any text')
    .option('--data-id <id>', 'only this data id; * matches any text')
  return addServerOptions(addNamespaceOption(command))
}

/** The flags of an import. */
export function addImportOptions(command: Command): Command {
  const policy = new Option(
    '--policy <policy>',
    'what happens where an item exists: abort stops at the first such item',
  )
    .choices(['abort', 'skip', 'overwrite'])
    .default('abort')
  command
    .requiredOption('--from <file>', 'the zip file to read; - is standard input')
    .addOption(policy)
    .option('--dry-run', 'only say what would happen')
    .addOption(outputOption())
    .addOption(new Option('--json').hideHelp())
  return addServerOptions(addNamespaceOption(command))
}
