import { silenceStories, tellOfSilence } from './silence-story.ts'
import { runsOf, testOfStories } from './told-stories.ts'

testOfStories(
  'three servers that judge silence: what beats at a live one is never unhealthy or removed, whoever dies, freezes or is cut off, and what is dead leaves',
  {
    kind: 'of servers that judge silence',
    stories: silenceStories,
    tell: tellOfSilence,
    runs: runsOf(2_000),
  },
)
