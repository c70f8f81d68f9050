import { useState } from 'preact/hooks'
import { Check, LongTextField, SelectField, TextField } from '../controls/field.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { ofConfig } from '../live/meant.ts'
import { shownNumber, t } from '../language/text.ts'
import { type ConfigName, readWatchers, type Watcher } from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'
import { addressesIn, hasOwnName, isSaid, ruleOf, type Audience, type AudienceKind } from './audience.ts'

interface AudienceProps {
  readonly name: ConfigName
  readonly audience: Audience
  readonly onChange: (audience: Audience) => void
}

/** Text typed in one kind of field has no meaning in another; addresses may be chosen and typed. */
const areAddresses = (kind: AudienceKind): boolean => kind === 'clients' || kind === 'ips'

/** Fields that say for whom a text is: for all clients, or for some, and then for which clients. */
export function AudienceFields(props: AudienceProps & { readonly kinds: readonly AudienceKind[] }) {
  const { audience, kinds, onChange } = props
  const choose = (kind: AudienceKind): void => {
    const isKept = areAddresses(kind) && areAddresses(audience.kind)
    onChange({ ...audience, kind, expr: isKept ? audience.expr : '' })
  }
  return (
    <>
      {kinds.length > 1 && (
        <SelectField
          label={t('grayAudience')}
          value={audience.kind}
          onChange={(kind) => choose(kind as AudienceKind)}
          choices={kinds.map((kind) => [kind, t(`audience.${kind}`)])}
        />
      )}
      {hasOwnName(audience.kind) && kinds.includes('all') && (
        <TextField
          label={t('grayName')}
          hint={t('grayNameHint')}
          isCode
          maxLength={128}
          value={audience.name}
          onInput={(name) => onChange({ ...audience, name })}
        />
      )}
      <ExpressionField {...props} />
      {isSaid(audience) && <Matching {...props} />}
    </>
  )
}

/** How many of the clients that listen the rule is for. Nobody can tell whom the share of a new version takes. */
function Matching({ name, audience, kinds }: AudienceProps & { readonly kinds: readonly AudienceKind[] }) {
  const { grayType, grayMatchRuleExp, grayName } = ruleOf(audience) ?? {}
  const rule = { grayType, grayMatchRuleExp, grayName: kinds.includes('all') ? undefined : grayName }
  const found = useLoaded(
    JSON.stringify([name, rule]),
    () => readWatchers(name, rule),
    ofConfig(name, 'watchers'),
  ).value
  if (found === undefined || found.matching === null) return null
  const { matching, count } = found
  return (
    <p class="soft" role="status">
      {t('grayMatching', { matching: shownNumber(matching), count: shownNumber(count) })}
    </p>
  )
}

function ExpressionField({ name, audience, onChange }: AudienceProps) {
  const type = (expr: string): void => onChange({ ...audience, expr })
  const field = { value: audience.expr, isCode: true, onInput: type }
  switch (audience.kind) {
    case 'all':
      return null
    case 'clients':
      return (
        <ListenerChoice
          name={name}
          chosen={addressesIn(audience.expr)}
          onChoose={(all) => type(all.join(','))}
        />
      )
    case 'ips':
      return <LongTextField {...field} label={t('grayAddresses')} hint={t('grayAddressesHint')} />
    case 'tag':
      return <TextField {...field} label={t('tag')} hint={t('grayTagHint')} maxLength={128} />
    case 'labels':
      return <TextField {...field} label={t('grayLabels')} hint={t('grayLabelsHint')} />
    case 'percent':
      return <TextField {...field} label={t('grayShare')} hint={t('grayShareHint')} maxLength={6} />
  }
}

/** The most addresses that are drawn. */
const MOST_SHOWN = 200
/** Where there are more, they can be searched. */
const FEW = 8

interface Listening {
  readonly ip: string
  readonly clients: readonly Watcher[]
}

/** The addresses of the clients that listen now, live; several clients of one address get the same text. */
function ListenerChoice(props: {
  readonly name: ConfigName
  readonly chosen: readonly string[]
  readonly onChoose: (chosen: readonly string[]) => void
}) {
  const { name, chosen, onChoose } = props
  const [text, setText] = useState('')
  const found = useLoaded(JSON.stringify(name), () => readWatchers(name), ofConfig(name, 'watchers'))
  if (found.value === undefined)
    return found.problem === undefined ? <p class="loading">{t('loading')}</p> : <LoadProblem found={found} />
  const all = byAddress(found.value.watchers, chosen)
  const shown = all.filter((one) => textOf(one).includes(text.trim().toLowerCase()))
  const choose = (ip: string, isOn: boolean): void =>
    onChoose(isOn ? [...chosen, ip] : chosen.filter((one) => one !== ip))
  return (
    <fieldset class="listeners">
      <legend>{t('grayClients', { count: shownNumber(chosen.length), all: shownNumber(all.length) })}</legend>
      {all.length === 0 && <p class="soft">{t('noWatchers')}</p>}
      {all.length > FEW && <TextField label={t('search')} type="search" value={text} onInput={setText} />}
      <ul tabIndex={0} aria-label={t('watchers')}>
        {shown.slice(0, MOST_SHOWN).map(({ ip, clients }) => (
          <li key={ip}>
            <Check
              label={<ListenerText ip={ip} clients={clients} />}
              isOn={chosen.includes(ip)}
              onChange={(isOn) => choose(ip, isOn)}
            />
          </li>
        ))}
        {shown.length > MOST_SHOWN && (
          <li>{t('andMore', { count: shownNumber(shown.length - MOST_SHOWN) })}</li>
        )}
      </ul>
    </fieldset>
  )
}

function ListenerText({ ip, clients }: Listening) {
  const agents = [...new Set(clients.map(({ agent }) => agent))].filter((agent) => agent !== '')
  return (
    <>
      <strong>{ip}</strong>{' '}
      <span class="soft" dir="auto">
        {clients.length === 0
          ? t('grayAway')
          : [...agents, clients.length > 1 ? `× ${clients.length}` : ''].join(' ')}
      </span>
    </>
  )
}

const textOf = ({ ip, clients }: Listening): string =>
  [ip, ...clients.map(({ agent }) => agent)].join(' ').toLowerCase()

/** The clients by the addresses by which rules know them; chosen clients that are away come last. */
function byAddress(watchers: readonly Watcher[], chosen: readonly string[]): Listening[] {
  const addresses = new Map<string, Watcher[]>()
  for (const watcher of watchers)
    addresses.set(watcher.ruleIp, [...(addresses.get(watcher.ruleIp) ?? []), watcher])
  const here = Array.from(addresses, ([ip, clients]) => ({ ip, clients }))
  const away = chosen.filter((ip) => !addresses.has(ip)).map((ip) => ({ ip, clients: [] }))
  return [...here.toSorted((one, other) => (one.ip < other.ip ? -1 : 1)), ...away]
}
