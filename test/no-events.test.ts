/**
 * An abort makes an `Event`, and one without a reason a DOMException. Node.js 20 notes both in weak collections of its startup
 * snapshot, where V8 11.3 can end the process (decision 0070). So a server has Cancellation instead.
 */
import { expect, test } from 'vitest'
import { sourceFiles } from './support/sources.ts'

const MAKES_EVENTS = /\b(?:AbortController|AbortSignal\.\w+\(|EventTarget|DOMException)\b/
/** Commands end soon: an event or two does no harm. */
const COMMANDS = /^src\/(?:command|terminal|move|server\/commands)\//

test('a server makes no events of the web', () => {
  const users = sourceFiles().filter(
    ({ file, code }) => !COMMANDS.test(file) && MAKES_EVENTS.test(code.replaceAll(/\/\*\*[^]*?\*\//g, '')),
  )
  expect(users.map(({ file }) => file)).toEqual([])
})
