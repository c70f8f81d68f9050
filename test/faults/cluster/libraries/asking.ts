import type { AsAdministrator } from '../../../support/administrator.ts'
import { ask, type Request } from '../load/ask.ts'
import { pause } from '../strikes/scene.ts'

const TRIES = 200
const PAUSE_MS = 250
const LIMIT_MS = 3_000

/** Asks the servers one after the other until one server does it. Rejects when no server has done it for a minute or so. */
export function anyOf(urls: readonly string[]): AsAdministrator {
  return async (method, path, form) => {
    const request: Request = {
      method,
      path,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form === undefined ? '' : new URLSearchParams(form).toString(),
      limitMs: LIMIT_MS,
    }
    let last = 'nothing'
    for (let tries = 0; tries < TRIES; tries++) {
      const reply = await ask(urls[tries % urls.length]!, request)
      if (reply.kind === 'answered' && reply.status === 200) return reply.text
      last = reply.kind === 'answered' ? `${reply.status} ${reply.text}` : reply.kind
      await pause(PAUSE_MS)
    }
    throw new Error(`${method} ${path}: no server did it, but ${last}`)
  }
}
