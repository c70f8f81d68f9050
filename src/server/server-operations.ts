import type { OwnViews } from '../core/clients/client-views.ts'
import { BEHIND_AFTER_MS, clientsBehind } from '../core/clients/clients-behind.ts'
import { LongWalks } from '../core/work/long-walks.ts'
import { Guard, placesOf } from '../operations/guard.ts'
import { allOperations, type Operations } from '../operations/operations.ts'
import type { ListFormat } from '../protocols/answers/list-format.ts'
import type { Settings } from '../settings/settings.ts'
import { ClientCounter } from './doors/client-counts.ts'
import type { ClientsOfServer } from './doors/connected-clients.ts'
import { subscribersOf } from './doors/pushing.ts'
import type { JoinedParts } from './joined-parts.ts'
import type { BackupsOfServer } from './process/backups.ts'
import { loop, wallMs } from './process/clocks.ts'
import { placesOfHeap } from './process/memory-limits.ts'
import { responsibleFor } from './process/responsible.ts'
import type { SignIn } from './sign-in/sign-in.ts'

/** The joined parts, and the parts that are opened after them. */
export interface OperatedParts extends JoinedParts {
  readonly clients: ClientsOfServer
  readonly backups: BackupsOfServer
  readonly signIn: SignIn
}

/** Makes the operations of a server, which all protocols call. */
export function openOperations(parts: OperatedParts, settings: Settings): Operations {
  const { state, installation, care, members, machine, watch, pushing, signIn, audit, lists } = parts
  const { pushes, streams, readers } = pushing
  const subscriberCount = subscriberCountOf(parts)
  const counted = { state, connections: parts.clients.book, pushed: () => pushes.all(), judges: care.judges }
  const clientCounter = new ClientCounter(counted)
  return allOperations({
    ...parts,
    ...parts.publishing,
    maxInstanceMetadataBytes: settings.maxInstanceMetadataBytes,
    maxListeningItems: settings.maxListeningItems,
    guard: new Guard(signIn.authorisation, audit.trail, placesOf(placesOfHeap())),
    signIn: signIn.parts,
    isAuthenticationOn: signIn.mode === 'on',
    loop,
    walks: new LongWalks(loop),
    // Requests have their format from the list endpoints.
    lists: { answer: (query) => lists.answerInSlices(query as typeof query & { format: ListFormat }) },
    pushes: {
      subscribe: (subscriber) => pushes.subscribe(subscriber),
      list: (key) => subscribersOf(pushing, key),
    },
    silenceOf: (id) => parts.clients.silenceOf(id),
    streams,
    readers,
    live: parts.live.streams,
    views: installation.viewsOf(ownViews(parts, subscriberCount)),
    probes: parts.probing,
    members: () => members.list(),
    leader: () => members.leader(),
    cluster: () => members.cluster(),
    machine: () => machine.read(),
    subscriberCount,
    responsible: () => responsibleFor(state, care.judges),
    clientCounts: () => clientCounter.count(),
    judges: care.judges,
    scrape: watch.scrape,
    scrapeForNacos: watch.scrapeForNacos,
    room: watch.room,
  })
}

/** This server's answers about its clients, for the other servers of the installation. */
function ownViews(parts: OperatedParts, subscriberCount: () => number): OwnViews {
  const { state, timeline, installation, watch, pushing, polls, clients } = parts
  return {
    watchersOf: (key) => polls.lists.watchersOf(key),
    clientsOf: (key) => polls.lists.clientsOf(key),
    clientCounts: (keys) => polls.lists.clientCounts(keys),
    watchedBy: (ip) => polls.lists.watchedBy(ip),
    condition: async () => ({
      behind: await clientsBehind(polls.lists.lateClients(BEHIND_AFTER_MS), {
        state,
        walk: (all, each) => polls.walk(all, each),
      }),
      lost: timeline.lost.at(wallMs()),
      subscriberCount: subscriberCount(),
      lagMs: installation.lagMs(),
      faults: [...watch.notReady(), ...watch.warnings()],
    }),
    subscribers: (key) => subscribersOf(pushing, key),
    timeline: (key) => timeline.of(key),
    dismissLost: (key) => timeline.lost.dismiss(key),
    connectedClients: (search) => clients.list(search),
    dismiss: (dismissal) => clients.dismiss(dismissal),
  }
}

/** All subscribers of lists on this server, by UDP and by connections. */
function subscriberCountOf({ pushing: { pushes, streams } }: JoinedParts): () => number {
  return () => pushes.counts().subscribers + streams.counts().subscribers
}
