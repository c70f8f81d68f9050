import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../controls/icon.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { tellProblem } from '../controls/toast.tsx'
import { PopoverButton } from '../controls/popover.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import {
  currentNamespace,
  namespaceColour,
  namespaceName,
  namespaceParam,
  namespaces,
  refreshNamespaces,
} from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { viewOf } from './views.tsx'

/** Shows the namespace of the view, and changes it. */
export function NamespaceSwitch() {
  useStore(namespaces)
  const id = currentNamespace()
  return (
    <PopoverButton
      label={t('namespaceIs', { name: namespaceName(id) })}
      className={`button namespace-button ${namespaceColour(id)}`}
      button={
        <>
          <NamespaceMark id={id} />
          <Icon name="down" />
        </>
      }
      panel={(close) => <Choices onChosen={close} />}
    />
  )
}

const SEARCHED_FROM = 6

function Choices({ onChosen }: { onChosen: () => void }) {
  const [text, setText] = useState('')
  const all = useStore(namespaces) ?? []
  // Somebody may have made one since.
  useEffect(() => void refreshNamespaces().catch(tellProblem), [])
  const wanted = text.trim().toLowerCase()
  const found = all.filter(
    ({ id, name }) => id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted),
  )
  // Details of an item mean nothing in another namespace.
  const view = viewOf(place.value.path).below
  return (
    <>
      {all.length >= SEARCHED_FROM && (
        <input
          class="input"
          type="search"
          autofocus
          aria-label={t('findNamespace')}
          placeholder={t('findNamespace')}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <div class="choices">
        {found.map(({ id, configCount }) => (
          <a
            key={id}
            class="choice"
            href={linkTo(view, { ns: namespaceParam(id) })}
            aria-current={id === currentNamespace() ? 'true' : undefined}
            onClick={onChosen}
          >
            <NamespaceMark id={id} />
            <span class="soft">{shownNumber(configCount)}</span>
          </a>
        ))}
      </div>
      {found.length === 0 && <p class="soft about">{t('nothingFound')}</p>}
    </>
  )
}
