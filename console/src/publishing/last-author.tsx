import type { ComponentChild } from 'preact'
import { Ago } from '../controls/ago.tsx'
import { type ConfigName, findVersions } from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'

/** The author of the version with this md5, its time and its comment. An empty md5 is a deletion. `otherwise`: nobody knows. */
export function LastAuthor(props: {
  readonly name: ConfigName
  readonly md5: string
  readonly otherwise?: ComponentChild
}) {
  const { name, md5, otherwise = null } = props
  const found = useLoaded(JSON.stringify([name, md5]), () => findVersions(name, { pageNo: 1, pageSize: 5 }))
  const version = found.value?.pageItems.find((one) => (one.md5 ?? '') === md5)
  if (version === undefined) return otherwise
  const { user, ip, comment, atMs } = version
  return (
    <div>
      <strong dir="auto">{user ?? ip}</strong> · <Ago atMs={atMs} />
      {comment !== '' && <span dir="auto"> · “{comment}”</span>}
    </div>
  )
}
