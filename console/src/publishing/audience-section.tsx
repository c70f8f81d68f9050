import { Ago } from '../controls/ago.tsx'
import { Notice } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import type { ConfigName } from '../server/configs.ts'
import type { GrayVersion } from '../server/gray.ts'
import { ruleOf, audienceText, type Audience, AUDIENCE_KINDS } from './audience.ts'
import { AudienceFields } from './audience-fields.tsx'

/** The part of the review that says for whom the text is, and which gray version it would replace. */
export function AudienceSection(props: {
  readonly name: ConfigName
  readonly audience: Audience
  readonly onChange: (audience: Audience) => void
  readonly gray: readonly GrayVersion[] | undefined
}) {
  const { name, audience, onChange, gray = [] } = props
  const grayName = ruleOf(audience)?.grayName
  const replaced = gray.find((version) => version.grayName === grayName)
  return (
    <div class="form">
      <AudienceFields name={name} audience={audience} onChange={onChange} kinds={AUDIENCE_KINDS} />
      {grayName !== undefined && <p class="soft">{t('grayNotesStay')}</p>}
      {grayName === undefined && gray.length > 0 && (
        <Notice kind="plain" icon="gray">
          {t('grayStays', { names: gray.map((version) => version.grayName).join(', ') })}
        </Notice>
      )}
      {replaced !== undefined && (
        <Notice kind="warn">
          <strong dir="auto">{t('grayReplaces', { name: replaced.grayName })}</strong>
          <div class="soft" dir="auto">
            {audienceText(replaced)} · <Ago atMs={replaced.createTime} /> ·{' '}
            {replaced.createUser ?? replaced.createIp}
          </div>
        </Notice>
      )}
    </div>
  )
}
