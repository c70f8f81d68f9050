import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandResult, DiffersError, print, UsageError, done } from '../../command/command-line.ts'
import { confirmed, requireTerminal } from '../confirmation.ts'
import { clientOf } from '../session-of-flags.ts'
import { unifiedDiff } from '../text-diff.ts'
import { type ForceFlags, requireReadable } from './readable-text.ts'
import { type ItemFlags, itemOf, itemParams, md5Of, nameText, readItem, textOf } from './item.ts'

/** The flags of `config edit`. */
export interface EditFlags extends ItemFlags, ForceFlags {
  readonly comment?: string
  readonly yes?: boolean
}

/**
 * `config edit`: opens the item in the editor, shows the difference, asks, and publishes on condition of the edited md5.
 * Undoes changes that editors make by themselves: line ends, the byte order mark and the end of the last line.
 */
export async function editConfig(flags: EditFlags, word: string): Promise<CommandResult> {
  requireTerminal(flags)
  const client = clientOf(flags)
  const name = itemOf(word, flags)
  const item = await readItem(client, name)
  const editing = new EditedFile(name.dataId, item.content)
  const edited = inFormOf(item.content, await editing.edit())
  if (edited === item.content) {
    editing.remove()
    return done('Nothing was changed.', { changed: false })
  }
  await print(unifiedDiff({ name: nameText(name), text: item.content }, { name: 'edited', text: edited }))
  try {
    await requireReadable(client, { name, content: edited }, flags)
    if (!(await confirmed('Publish this?', flags))) throw new UsageError('Nothing was published.')
    await client.send('POST', '/cs/configs', {
      ...itemParams(client, name),
      content: edited,
      casMd5: item.md5,
      comment: flags.comment,
      // A publish without it would be of a text that is not encrypted.
      encryptedDataKey: item.encryptedDataKey || undefined,
    })
  } catch (error) {
    throw kept(error, editing.path)
  }
  editing.remove()
  return done(`${nameText(name)} is published.`, { ...name, changed: true, md5: md5Of(edited) })
}

/** The error, with the file that keeps the user's text. */
function kept(error: unknown, path: string): Error {
  const message = `${(error as Error).message} What you edited is in ${path}.`
  if (error instanceof DiffersError) return new DiffersError(message, { cause: error })
  return new UsageError(message, { cause: error })
}

/** A file for the editor, in a directory for this user alone. */
class EditedFile {
  readonly path: string
  readonly #directory: string

  constructor(dataId: string, content: string) {
    this.#directory = mkdtempSync(join(tmpdir(), 'waypost-edit-'))
    chmodSync(this.#directory, 0o700)
    this.path = join(this.#directory, dataId.replaceAll(/[^\p{L}\p{N}_.-]/gu, '_').replace(/^\.+/, '_'))
    writeFileSync(this.path, content, { mode: 0o600 })
  }

  /** Opens the editor and resolves with the text when it has ended. */
  async edit(): Promise<string> {
    const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi'
    // An editor is a command line, such as `code --wait`: the shell splits it, and gets the path as a word of its own.
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', this.path], { stdio: 'inherit' })
    const code = await new Promise<number | null>((resolve, reject) =>
      child.on('close', resolve).on('error', reject),
    )
    if (code !== 0) throw new UsageError(`The editor ${editor} ended with ${code}: nothing was published.`)
    return textOf(readFileSync(this.path), this.path)
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true })
  }
}

const BYTE_ORDER_MARK = '\uFEFF'

/**
 * An edited text in the form of the original: byte order mark, line ends and end of the last line. Editors change them by
 * themselves. A text with mixed line ends stays as it was edited.
 */
export function inFormOf(original: string, edited: string): string {
  return withMarkOf(original, withLastEndOf(original, withLineEndsOf(original, edited)))
}

function withMarkOf(original: string, edited: string): string {
  const bare = edited.startsWith(BYTE_ORDER_MARK) ? edited.slice(1) : edited
  return original.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + bare : bare
}

function withLineEndsOf(original: string, edited: string): string {
  const [returns, ends] = [countOf(original, '\r\n'), countOf(original, '\n')]
  if (ends === 0 || (returns !== 0 && returns !== ends)) return edited
  const plain = edited.replaceAll('\r\n', '\n')
  return returns === 0 ? plain : plain.replaceAll('\n', '\r\n')
}

/** An editor adds the missing end of a last line. */
function withLastEndOf(original: string, edited: string): string {
  return original.endsWith('\n') || original === '' ? edited : edited.replace(/\r?\n$/, '')
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1
}
