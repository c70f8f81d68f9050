/**
 * An abort makes an `Event`, and one without a reason a DOMException. Node.js 20 notes both in weak collections of its startup
 * snapshot, where V8 11.3 can end the process (decision 0070). So a server has Cancellation instead.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))
const MAKES_EVENTS = /\b(?:AbortController|AbortSignal\.\w+\(|EventTarget|DOMException)\b/
/** Commands end soon: an event or two does no harm. */
const COMMANDS = /^command\//

test('a server makes no events of the web', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !file.includes('.test') && !COMMANDS.test(file))
  const uses = (file: string) =>
    MAKES_EVENTS.test(readFileSync(join(src, file), 'utf8').replaceAll(/\/\*\*[^]*?\*\//g, ''))
  expect(files.filter(uses)).toEqual([])
})
