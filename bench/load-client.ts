/** A process of load clients. It runs the jobs of its messages, one at a time, and answers their results. */
import { grpcLoop } from './grpc-clients.ts'
import { GrpcListeners } from './grpc-listeners.ts'
import { GrpcSubscribers } from './grpc-subscribers.ts'
import type { Job } from './jobs.ts'
import { closedLoop, openLoop } from './loads.ts'
import { PollClients } from './polls.ts'
import { push } from './push-clients.ts'

const polls = new PollClients()
const listeners = new GrpcListeners()
const subscribers = new GrpcSubscribers()

process.on('message', (job: Job) => {
  run(job).then(
    (result) => process.send?.(result ?? {}),
    (error: unknown) => process.send?.({ problem: error instanceof Error ? error.message : String(error) }),
  )
})

function run(job: Job): Promise<object | void> {
  switch (job.job) {
    case 'open-loop':
      return openLoop(job)
    case 'closed-loop':
      return closedLoop(job)
    case 'hold':
      return polls.hold(job)
    case 'wake':
      return polls.wake(job)
    case 'push':
      return push(job)
    case 'grpc-subscribe':
      return subscribers.subscribe(job)
    case 'grpc-push':
      return subscribers.push(job)
    case 'grpc-loop':
      return grpcLoop(job)
    case 'grpc-listen':
      return listeners.listen(job)
    case 'grpc-check':
      return listeners.check(job)
    case 'grpc-tell':
      return listeners.tell(job)
  }
}
