import { stories, storiesOfAnyCommand, tell, tellOfAnyCommand } from './story.ts'
import { runsOf, testOfStories } from './told-stories.ts'

const runs = runsOf(2_000)

testOfStories(
  'three servers on one store: whatever is delayed, lost or refused, and whoever dies, answers are linearizable, watchers never go back, no history is missing, and all servers end equal',
  { kind: 'of three servers', stories, tell, runs, share: 0.6 },
)

testOfStories('three servers that execute commands of every kind end equal, also to one that starts then', {
  kind: 'of commands of every kind',
  stories: storiesOfAnyCommand,
  tell: tellOfAnyCommand,
  runs: runs / 2,
  share: 0.4,
})
