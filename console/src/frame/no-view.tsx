import { t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'

/** The page at an address that names no view. */
export function NoView() {
  return (
    <>
      <div class="head">
        <h1 class="title">{t('noView')}</h1>
      </div>
      <p>
        {t('noViewText')} <a href={linkTo('home')}>{t('home')}</a>
      </p>
    </>
  )
}
