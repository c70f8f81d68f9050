import { setTimeout as sleep } from 'node:timers/promises'
import { Histogram } from './histogram.ts'
import type { ClosedLoopJob, LoadResult, OpenLoopJob, Stream, To } from './jobs.ts'
import { requestPaths } from './paths.ts'
import {
  beatQuery,
  configContent,
  deregisterQuery,
  publishForm,
  readQuery,
  registerForm,
  requestText,
} from './request-text.ts'
import { Wire, type WireEnd } from './wire.ts'

/** The distance of the contents of two versions: no load has as many requests. */
const VERSION_STEP = 10_000_000

/** How many sockets use one loopback address, because the ports of an address are limited. */
const PER_ADDRESS = 5_000

/** A port stays in use for a minute after its connection, so each process of clients has its own loopback addresses. */
const OWN_NET = `127.${1 + (process.pid % 250)}.${(process.pid >> 8) % 250}`

/** Opens wires to a base, from as many loopback addresses as they need. */
export function openWires(base: string, count: number): Wire[] {
  return Array.from({ length: count }, (_, index) => {
    const localAddress = `${OWN_NET}.${2 + Math.floor(index / PER_ADDRESS)}`
    return new Wire({ ...endOf(base), localAddress })
  })
}

/** The host and port of a base. */
export function endOf(base: string): WireEnd {
  const { hostname, port } = new URL(base)
  return { host: hostname, port: Number(port) }
}

/** Creates the requests of a stream, with the header line that says who sends them. */
function requestsOf({ base, stream, authorization }: To): (index: number) => string {
  const make = plainRequestsOf(base, stream)
  if (authorization === undefined) return make
  return (index) => make(index).replace('\r\n', `\r\nAuthorization: ${authorization}\r\n`)
}

function plainRequestsOf(base: string, stream: Stream): (index: number) => string {
  const paths = requestPaths(new URL(base).pathname)
  switch (stream.kind) {
    case 'list':
      return (index) =>
        requestText('GET', `${paths.list}?serviceName=${stream.base}-${scattered(index, stream.services)}`)
    case 'read':
      return (index) =>
        requestText(
          'GET',
          `${paths.configs}?${readQuery(`${stream.base}-${scattered(index, stream.count)}`)}`,
        )
    case 'beat':
      return (index) => requestText('PUT', `${paths.beat}?${beatQuery(stream.set, index % stream.set.count)}`)
    case 'register':
      return (index) =>
        requestText(
          'POST',
          paths.instance,
          registerForm(stream.set, index % stream.set.count, stream.version),
        )
    case 'change':
      return (index) =>
        requestText(
          'POST',
          paths.instance,
          registerForm(
            stream.set,
            scattered(index, stream.set.count),
            stream.version + Math.floor(index / stream.set.count),
          ),
        )
    case 'rejoin':
      return (index) => {
        const { set } = stream
        const at = index % (2 * LEAVE_TOGETHER)
        const turn = (index - at) / 2 + (at % LEAVE_TOGETHER)
        const instance = scattered(turn, set.count)
        return at < LEAVE_TOGETHER
          ? requestText('DELETE', `${paths.instance}?${deregisterQuery(set, instance)}`)
          : requestText('POST', paths.instance, registerForm(set, instance, 0))
      }
    case 'publish':
      return (index) =>
        requestText(
          'POST',
          paths.configs,
          publishForm(
            `${stream.base}-${index % stream.count}`,
            configContent(index + (stream.version ?? 0) * VERSION_STEP),
          ),
        )
  }
}

/** How many instances leave before the first one returns, so that no request overtakes an earlier one of its instance. */
const LEAVE_TOGETHER = 50

/** Visits each of `count` numbers once, in a scattered order. */
function scattered(index: number, count: number): number {
  return (index * 7919) % count
}

/** Creates beats before the measurement: at 20,000 a second this would be most of the client's work. */
function madeBefore(make: (index: number) => string, stream: Stream): (index: number) => string {
  if (stream.kind !== 'beat') return make
  const { count } = stream.set
  const texts = Array.from({ length: count }, (_, index) => make(index))
  return (index) => texts[index % count]!
}

/** Sends requests as fast as they are answered. */
export async function closedLoop({ connections, requests, ...to }: ClosedLoopJob): Promise<LoadResult> {
  const { base } = to
  const make = requestsOf(to)
  const wires = openWires(base, connections)
  const histogram = new Histogram()
  const began = performance.now()
  let next = 0
  let failed = 0
  const work = async (wire: Wire): Promise<void> => {
    while (next < requests) {
      const sentMs = performance.now()
      const { status } = await wire.ask(make(next++))
      if (status === 200) histogram.add(performance.now() - sentMs)
      else failed++
    }
    wire.close()
  }
  await Promise.all(wires.map(work))
  const elapsedMs = performance.now() - began
  return { counts: histogram.counts(), answered: histogram.total, failed, elapsedMs }
}

/** The interval at which the client sends due requests. */
const TICK_MS = 1

/**
 * Sends requests at a constant rate, independent of the server. A latency starts when the request is due, even if no
 * connection is free then, so it includes the time in which the server stalls.
 */
export async function openLoop(job: OpenLoopJob): Promise<LoadResult> {
  const { base, stream, connections, perSecond, seconds } = job
  const make = madeBefore(requestsOf(job), stream)
  const wires = openWires(base, connections)
  for (const wire of wires) await wire.open()
  const free = [...wires].reverse()
  const waiting: number[] = []
  const histogram = new Histogram()
  const late = new Histogram()
  const total = Math.floor(perSecond * seconds)
  let failed = 0
  let due = 0
  let sent = 0
  const began = performance.now()
  const dueMs = (index: number): number => began + (index * 1_000) / perSecond
  const dispatch = (): void => {
    while (sent < waiting.length && free.length > 0) {
      const index = waiting[sent++]!
      // The wire that was idle the longest, so that each request has another client if there are enough.
      const wire = free.shift()!
      wire.send(make(index), (status) => {
        if (status === 200) histogram.add(performance.now() - dueMs(index))
        else failed++
        free.push(wire)
        if (sent < waiting.length) dispatch()
      })
    }
  }
  while (histogram.total + failed < total) {
    const now = performance.now()
    for (; due < total && dueMs(due) <= now; due++) {
      late.add(now - dueMs(due))
      waiting.push(due)
    }
    dispatch()
    await sleep(TICK_MS)
    if (performance.now() - began > (seconds + 60) * 1_000) break
  }
  for (const wire of wires) wire.close()
  const elapsedMs = performance.now() - began
  const unanswered = total - histogram.total - failed
  return {
    counts: histogram.counts(),
    answered: histogram.total,
    failed: failed + unanswered,
    elapsedMs,
    lateCounts: late.counts(),
  }
}
