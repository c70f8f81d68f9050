import { SelectField } from '../controls/field.tsx'
import { Notice } from '../controls/notice.tsx'
import { shownNumber, t } from '../language/text.ts'
import type { ImportOutcome, ImportPolicy } from '../server/configs.ts'

/** The policy for items that exist already. */
export function PolicyField(props: {
  readonly policy: ImportPolicy
  readonly onChange: (policy: ImportPolicy) => void
}) {
  return (
    <SelectField
      label={t('ifThere')}
      value={props.policy}
      choices={[
        ['ABORT', t('policy.ABORT')],
        ['SKIP', t('policy.SKIP')],
        ['OVERWRITE', t('policy.OVERWRITE')],
      ]}
      onChange={(chosen) => props.onChange(chosen as ImportPolicy)}
    />
  )
}

/** The result of a dry run: the changes that would be made. */
export function Trial({ outcome, policy }: { outcome: ImportOutcome; policy: ImportPolicy }) {
  const count = (kind: string): string =>
    shownNumber(outcome.succData.filter(({ change }) => change === kind).length)
  // Under this policy nothing is tried after the first item that exists.
  const isStopped = policy === 'ABORT' && outcome.failData.length > 0
  return (
    <>
      <Notice kind="plain" icon="eye">
        {t(isStopped ? 'importWouldStop' : 'importWould', {
          count: shownNumber(outcome.succCount),
          skipped: shownNumber(outcome.skipCount),
        })}{' '}
        {outcome.succCount > 0 &&
          t('importAhead', { fresh: count('new'), changed: count('changed'), equal: count('equal') })}{' '}
        {outcome.unrecognizedCount > 0 &&
          t('importUnknown', { unknown: shownNumber(outcome.unrecognizedCount) })}
        {outcome.folder !== '' && <p>{t('importFolder', { folder: outcome.folder })}</p>}
      </Notice>
      <Names title={t('wouldPublish')} names={outcome.succData} />
      <Names title={t(isStopped ? 'wouldNotTry' : 'wouldSkip')} names={outcome.skipData} />
      <Names title={t('wouldFail')} names={outcome.failData} />
      <Names title={t('unknownTypes')} names={outcome.unknownTypeData} />
      <Names title={t('readAs')} names={outcome.readAsData} />
      <Unknown names={outcome.unrecognizedData} />
    </>
  )
}

const SHOWN_NAMES = 200

/** Files that are no configuration, each with the reason where it is not plain from the name. */
function Unknown({ names }: { names: ImportOutcome['unrecognizedData'] }) {
  if (names.length === 0) return null
  return (
    <section>
      <h3>{t('noConfigs')}</h3>
      <ul class="keys" tabIndex={0} aria-label={t('noConfigs')}>
        {names.slice(0, SHOWN_NAMES).map(({ itemName, reason }) => (
          <li key={itemName}>
            <strong dir="auto">{itemName}</strong> <span class="soft">{t(`unrecognized.${reason}`)}</span>
          </li>
        ))}
        {names.length > SHOWN_NAMES && (
          <li>{t('andMore', { count: shownNumber(names.length - SHOWN_NAMES) })}</li>
        )}
      </ul>
    </section>
  )
}

type ShownItem = ImportOutcome['succData'][number] & { readonly type?: string }

function Names({ title, names }: { title: string; names: readonly ShownItem[] }) {
  if (names.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <ul class="keys" tabIndex={0} aria-label={title}>
        {names.slice(0, SHOWN_NAMES).map(({ group, dataId, change, type, watcherCount = 0 }) => (
          <li key={`${group} ${dataId}`}>
            <strong dir="auto">{dataId}</strong> <span dir="auto">{group}</span>{' '}
            {type !== undefined && (
              <span class="soft" dir="auto">
                {type}
              </span>
            )}{' '}
            {change !== undefined && <span class="soft">{t(`ahead.${change}`)}</span>}{' '}
            {watcherCount > 0 && (
              <span class="soft">{t('aheadClients', { count: shownNumber(watcherCount) })}</span>
            )}
          </li>
        ))}
        {names.length > SHOWN_NAMES && (
          <li>{t('andMore', { count: shownNumber(names.length - SHOWN_NAMES) })}</li>
        )}
      </ul>
    </section>
  )
}
