/**
 * Loaded into a server before its own code (`node --import`). Each place of the built server that hands a callback to an emitter,
 * a timer, the feed or a boundary is a site: its callback throws once when the parent process says so. See `hooks.mjs`.
 */
import { register } from 'node:module'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'

register('./hooks.mjs', import.meta.url)

/** The site that throws at its next call. */
let armed
/** Sites that were called, and how often. */
const called = new Map()
const known = []
const between = new BroadcastChannel('planted faults')
between.unref()

/** Wraps a callback. `listener` lets an emitter remove it by the original. */
globalThis.__site = (site, callback) => {
  if (typeof callback !== 'function') return callback
  const wrapped = function (...args) {
    strike(site)
    return callback.apply(this, args)
  }
  wrapped.listener = callback
  return wrapped
}

/** The sites of a module that was loaded. */
globalThis.__known = (sites) => known.push(...sites)

/** Makes a promise reject. */
globalThis.__promise = (site, promise) => {
  try {
    strike(site)
    return promise
  } catch (error) {
    Promise.resolve(promise).catch(() => undefined)
    return Promise.reject(error)
  }
}

function strike(site) {
  called.set(site, (called.get(site) ?? 0) + 1)
  if (armed !== site) return
  armed = undefined
  tell({ fired: site })
  throw new Error(`planted at ${site}`)
}

function tell(message) {
  if (isMainThread) process.send?.(message)
  else between.postMessage(message)
}

function take(message) {
  if ('arm' in message) armed = message.arm
  if ('sites' in message) tell({ called: [...called.keys()], known })
}

if (isMainThread) {
  process.on('message', (message) => {
    take(message)
    between.postMessage(message)
  })
  process.channel?.unref()
  between.onmessage = ({ data }) => 'arm' in data || process.send?.(data)
} else between.onmessage = ({ data }) => take(data)
