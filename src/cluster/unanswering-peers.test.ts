import { expect, test } from 'vitest'
import { UnansweringPeers } from './unanswering-peers.ts'

/** Asks once a second without an answer, and returns the seconds in which the alarm began. */
function askInVain(peers: UnansweringPeers, seconds: number, process = 'p'): number[] {
  return Array.from({ length: seconds }, (_, second) => second).filter((second) =>
    peers.unanswered('s2', process, second * 1_000),
  )
}

test('a member that leaves questions unanswered for longer than its lease raises one alarm', () => {
  const peers = new UnansweringPeers()
  expect(askInVain(peers, 60)).toEqual([15])
  expect(peers.alarming).toEqual(['s2'])
})

test('an answer ends the alarm', () => {
  const peers = new UnansweringPeers()
  askInVain(peers, 60)
  peers.answered('s2')
  expect(peers.alarming).toEqual([])
  expect(askInVain(peers, 14)).toEqual([])
})

test('a few questions over a long time, another process and a lost member raise no alarm', () => {
  const peers = new UnansweringPeers()
  for (const nowMs of [0, 60_000, 120_000]) expect(peers.unanswered('s2', 'p', nowMs)).toBe(false)
  expect(peers.unanswered('s2', 'another', 121_000)).toBe(false)
  expect(askInVain(peers, 14, 'another')).toEqual([])
  peers.keepOnly((id) => id !== 's2')
  expect(peers.unanswered('s2', 'another', 200_000)).toBe(false)
})
