/**
 * Loaded into a server whose processor time is looked at (`--import`), and into its threads. On request it profiles all of them.
 */
import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'
import type { Profile, ServerProfile, ThreadProfile } from './profile.ts'
import { BEGIN_PROFILE, END_PROFILE } from './probe-messages.ts'

/** Each sample stops its thread for some µs. */
const INTERVAL_US = 1_000
/** By then each thread has answered. */
const ANSWERS_MS = 1_000

const session = new Session()
const threads = new BroadcastChannel('waypost-bench-profile')

let beganUs = 0

async function begin(): Promise<void> {
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
  await session.post('Profiler.start')
  beganUs = processorUs()
}

async function end(): Promise<ThreadProfile> {
  const usedUs = processorUs() - beganUs
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  return { profile: profile as Profile, usedUs }
}

/** Processor time of this thread. */
function processorUs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1_000
}

if (isMainThread && process.channel) {
  let others: ThreadProfile[] = []
  threads.onmessage = ({ data }: { data: unknown }) => void others.push(data as ThreadProfile)
  process.on('message', (asked) => {
    if (asked === BEGIN_PROFILE) {
      others = []
      threads.postMessage(BEGIN_PROFILE)
      void begin().then(() => process.send?.({}))
    }
    if (asked !== END_PROFILE) return
    threads.postMessage(END_PROFILE)
    void end().then((main) => {
      const answer = (): ServerProfile => ({ main, others })
      setTimeout(() => process.send?.(answer()), ANSWERS_MS)
    })
  })
  process.channel.unref()
} else if (!isMainThread) {
  threads.onmessage = ({ data }: { data: unknown }) => {
    if (data === BEGIN_PROFILE) void begin()
    if (data === END_PROFILE) void end().then((profile) => threads.postMessage(profile))
  }
}
threads.unref()
