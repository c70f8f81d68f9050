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
