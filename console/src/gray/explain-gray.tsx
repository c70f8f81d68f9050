import { TextField } from '../controls/field.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { shownNumber, t } from '../language/text.ts'
import { place } from '../state/location.ts'
import type { ConfigName } from '../server/configs.ts'
import { type ExplainedView, explainGray, type GrayVersion } from '../server/gray.ts'
import { useLoaded } from '../live/loaded.ts'
import { useStore } from '../state/store.ts'
import { audienceText } from '../publishing/audience.ts'

/** Which version a client gets, and why; what is known of the client is in the address. */
export function ExplainGray(props: { readonly name: ConfigName; readonly versions: readonly GrayVersion[] }) {
  const { name, versions } = props
  const { params } = useStore(place)
  const { valueOf, type } = useTypedParams()
  const who = { ip: params['ip'] ?? '', tag: params['tag'] ?? '', labels: params['labels'] ?? '' }
  const isAsked = Object.values(who).some((value) => value !== '')
  const field = (param: string, label: string, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      isCode
      value={valueOf(param)}
      onInput={(value) => type(param, value)}
    />
  )
  return (
    <section class="card padded gray-version" aria-label={t('explain')}>
      <h2>{t('explain')}</h2>
      <p class="soft">{t('grayExplainText')}</p>
      <div class="filters hinted">
        {field('ip', t('clientAddress'), t('grayIpHint'))}
        {field('tag', t('tag'), t('grayTagHint'))}
        {field('labels', t('grayClientLabels'), t('grayClientLabelsHint'))}
      </div>
      {isAsked && <Explained key={JSON.stringify([who, versions])} name={name} who={who} />}
    </section>
  )
}

function Explained(props: {
  readonly name: ConfigName
  readonly who: { readonly ip: string; readonly tag: string; readonly labels: string }
}) {
  const { name, who } = props
  const found = useLoaded(JSON.stringify([name, who]), () => explainGray(name, who))
  if (found.value === undefined)
    return found.problem === undefined ? <p class="loading">{t('loading')}</p> : <LoadProblem found={found} />
  const { md5, grayName, identity, versions } = found.value
  const got = grayName ?? (md5 === '' ? t('grayNothing') : t('formalVersion'))
  return (
    <>
      <p role="status">
        <strong dir="auto">{t('grayGets', { name: got })}</strong>
      </p>
      {versions.some(({ neededShare }) => neededShare !== null) && (
        <p class="soft" dir="auto">
          {t('grayIdentity', { identity })}
        </p>
      )}
      <div class="table-card" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{t('grayVersion')}</th>
              <th>{t('clientGetsIt')}</th>
              <th>{t('why')}</th>
            </tr>
          </thead>
          <tbody>
            {versions.map((version) => (
              <ExplainedRow key={version.id} version={version} grayName={grayName} />
            ))}
            <tr>
              <td>{t('formalVersion')}</td>
              <td>{shownGets(grayName === null && md5 !== '')}</td>
              <td>{formalReason(found.value)}</td>
            </tr>
          </tbody>
        </table>
      </div>
    </>
  )
}

function ExplainedRow(props: {
  readonly version: ExplainedView['versions'][number]
  readonly grayName: string | null
}) {
  const { version, grayName } = props
  const { isForClient, neededShare } = version
  const gets = version.grayName === grayName
  return (
    <tr>
      <td dir="auto">
        <strong>{version.grayName}</strong>
        <div class="soft">{audienceText(version)}</div>
      </td>
      <td>{shownGets(gets)}</td>
      <td>
        {t(gets ? 'grayWhy.gets' : isForClient ? 'grayWhy.later' : 'grayWhy.not')}
        {neededShare !== null && (
          <div class="soft">{t('grayNeededShare', { share: shownNumber(neededShare) })}</div>
        )}
      </td>
    </tr>
  )
}

const shownGets = (gets: boolean) => (
  <span class={gets ? 'badge good' : 'badge'}>{gets ? t('yes') : t('no')}</span>
)

function formalReason({ md5, grayName }: ExplainedView): string {
  if (grayName !== null) return t('grayWhy.before')
  return t(md5 === '' ? 'grayNoFormal' : 'grayWhy.formal')
}
