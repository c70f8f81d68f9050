/** Stories of every kind: few, so that `npm test` has them. The other files of this folder have the rest. */
import { connectionStories, tellOfConnections } from './connection-story.ts'
import { silenceStories, tellOfSilence } from './silence-story.ts'
import { stories, storiesOfAnyCommand, tell, tellOfAnyCommand } from './story.ts'
import { testOfStories } from './told-stories.ts'

const runs = 50

testOfStories('some stories of three servers', { kind: 'of three servers', stories, tell, runs })
testOfStories('some stories of commands of every kind', {
  kind: 'of commands of every kind',
  stories: storiesOfAnyCommand,
  tell: tellOfAnyCommand,
  runs,
})
testOfStories('some stories of servers that judge silence', {
  kind: 'of servers that judge silence',
  stories: silenceStories,
  tell: tellOfSilence,
  runs,
})
testOfStories('some stories of servers with connections', {
  kind: 'of servers with connections',
  stories: connectionStories,
  tell: tellOfConnections,
  runs,
})
