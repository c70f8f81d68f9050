/**
 * Loaded into a server whose processor time is looked at (`--import`), and into its threads. On request it profiles all of them.
 */
import { Session } from 'node:inspector/promises'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'
import type { Profile } from './profile.ts'
import { BEGIN_PROFILE, END_PROFILE } from './profile-messages.ts'

const INTERVAL_US = 200
/** By then each thread has answered. */
const ANSWERS_MS = 1_000

const session = new Session()
const threads = new BroadcastChannel('waypost-bench-profile')
threads.unref()

async function begin(): Promise<void> {
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
  await session.post('Profiler.start')
}

async function end(): Promise<Profile> {
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  return profile as Profile
}

if (isMainThread && process.channel) {
  let profiles: Profile[] = []
  threads.onmessage = ({ data }: { data: unknown }) => void profiles.push(data as Profile)
  process.on('message', (asked) => {
    if (asked === BEGIN_PROFILE) {
      profiles = []
      threads.postMessage(BEGIN_PROFILE)
      void begin().then(() => process.send?.({}))
    }
    if (asked !== END_PROFILE) return
    threads.postMessage(END_PROFILE)
    void end().then((profile) => {
      profiles.push(profile)
      setTimeout(() => process.send?.({ profiles }), ANSWERS_MS)
    })
  })
  process.channel.unref()
} else if (!isMainThread) {
  threads.onmessage = ({ data }: { data: unknown }) => {
    if (data === BEGIN_PROFILE) void begin()
    if (data === END_PROFILE) void end().then((profile) => threads.postMessage(profile))
  }
}
