import { connectionStories, tellOfConnections } from './connection-story.ts'
import { runsOf, testOfStories } from './told-stories.ts'

testOfStories(
  'three servers with connections: what a live one publishes stays or comes back, what a closed one has published goes at once, and what a dead server leaves stays for a while',
  {
    kind: 'of servers with connections',
    stories: connectionStories,
    tell: tellOfConnections,
    runs: runsOf(1_000),
  },
)
