import { t } from '../language/text.ts'

/** Leads from an edit to its review, also by Ctrl+Enter. */
export function ReviewButton({ isDisabled, onReview }: { isDisabled: boolean; onReview: () => void }) {
  return (
    <button
      type="button"
      class="button primary"
      data-key="Control+Enter"
      aria-keyshortcuts="Control+Enter"
      disabled={isDisabled}
      onClick={onReview}
    >
      {t('review')}
    </button>
  )
}
