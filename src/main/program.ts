import { Argument, Command } from 'commander'
import { addAccountCommands } from '../server/commands/accounts/account-commands.ts'
import type { WithStoredAccounts } from '../server/commands/accounts/accounts.ts'
import { addAccessCommands } from '../terminal/access/access-commands.ts'
import { addConfigCommands } from '../terminal/configs/config-commands.ts'
import { addOperatorCommands } from '../terminal/operator/operator-commands.ts'
import { addServiceCommands } from '../terminal/services/service-commands.ts'
import { addSessionCommands } from '../terminal/session-commands.ts'
import { plainAction, print, addExamples, heading, helpEnd } from '../command/command-line.ts'
import { completionScript, type Shell, SHELLS } from '../command/completion.ts'
import { addMoveCommand } from '../move/move-commands.ts'
import { addParityCommand } from '../move/parity/parity-command.ts'
import { addServerCommands, type ServerParts } from '../server/commands/server-commands.ts'
import { printable } from '../command/terminal-text.ts'
import { addTransferCommands } from '../terminal/transfer/transfer-commands.ts'
import { packageVersion } from '../command/version.ts'

/** The parts that main.ts joins to the commands. */
export interface ProgramParts extends ServerParts {
  readonly storedAccounts: () => Promise<WithStoredAccounts>
}

/** Every command with its flags and its help. Its work is loaded when it runs. */
export function makeProgram(parts: ProgramParts): Command {
  const program = new Command('waypost')
    .description('A server for configuration, service discovery and namespaces, and its client.')
    .exitOverride()
    // Otherwise `config get --version` would print the version of the program.
    .enablePositionalOptions()
    .helpCommand(false)
    .helpOption('-h, --help', 'print this help')
    .version(packageVersion(), '-V, --version', 'print the version')
    .configureHelp({ styleTitle: heading, sortSubcommands: false })
    .configureOutput({
      outputError: (text, write) => write(printable(text.replace(/^error: /, 'waypost: '))),
    })
    .addHelpText('after', helpEnd)
    .showHelpAfterError('Add --help to see how the command is used.')
  addServerCommands(program, parts)
  addSessionCommands(program)
  addConfigCommands(program)
  addServiceCommands(program)
  addOperatorCommands(program)
  addAccountCommands(program, parts.storedAccounts)
  addAccessCommands(program)
  addTransferCommands(program)
  addMoveCommand(program)
  addParityCommand(program)
  addGeneralCommands(program)
  for (const group of program.commands) group.helpCommand(false)
  return program
}

function addGeneralCommands(program: Command): void {
  program.commandsGroup('About this program:')
  const help = program
    .command('help')
    .summary('explain a command')
    .description('Explains a command.')
    .argument('[command...]', 'its words')
    .action(
      plainAction(async (_, { args }) => {
        commandOf(program, args).outputHelp()
        return 0
      }),
    )
  addExamples(help, [
    ['waypost help start', 'the settings of a server'],
    ['waypost help user add', ''],
  ])
  const completion = program
    .command('completion')
    .summary('print a script that completes commands in a shell')
    .description('Prints a script by which a shell completes commands, flags and names of contexts.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action(
      plainAction(async (_, { args: [shell] }) => {
        await print(completionScript(program, shell as Shell))
        return 0
      }),
    )
  addExamples(completion, [
    ['source <(waypost completion bash)', 'in ~/.bashrc; the same for zsh'],
    ['waypost completion fish > ~/.config/fish/completions/waypost.fish', ''],
  ])
  program
    .command('version')
    .summary('print the version')
    .description('Prints the version.')
    .action(
      plainAction(async () => {
        await print(`${packageVersion()}\n`)
        return 0
      }),
    )
}

function commandOf(program: Command, words: readonly string[]): Command {
  let found = program
  for (const word of words) {
    const next = found.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (next === undefined) found.error(`error: unknown command '${word}'`)
    else found = next
  }
  return found
}
