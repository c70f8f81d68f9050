import { Ago } from '../controls/ago.tsx'
import { Masked } from '../controls/masked.tsx'
import { isSecretKey } from '../../../src/formats/secret-keys.ts'
import { t } from '../language/text.ts'
import type { Instance } from '../server/services.ts'

const KEY = 'metadata.'

/** The fields of an instance that operators have set, with who did it and when. */
export function Overrides({ overrides }: { overrides: Instance['overrides'] }) {
  return (
    <>
      {overrides.map((override) => (
        <div key={override.field} class="soft reason" dir="auto">
          <OneOverride override={override} />
        </div>
      ))}
    </>
  )
}

function OneOverride({ override }: { override: Instance['overrides'][number] }) {
  const { field, value, application, atMs, user, fromIp } = override
  const key = field.startsWith(KEY) ? field.slice(KEY.length) : undefined
  const shown = (text: string) =>
    field === 'enabled' ? (
      t(text === 'true' ? 'switchedOnShort' : 'switchedOffShort')
    ) : (
      <Masked text={text} isSecret={key !== undefined && isSecretKey(key)} />
    )
  return (
    <>
      {key ?? (field === 'weight' ? t('weight') : t('traffic'))}: {shown(value)}
      {application !== null && (
        <>
          {' '}
          ({t('applicationSays')} {shown(application)})
        </>
      )}
      {' · '}
      {t('cause.operator')} {atMs === null ? `(${t('whoUnknown')})` : `(${user ?? fromIp})`}{' '}
      {atMs !== null && <Ago atMs={atMs} />}
    </>
  )
}
