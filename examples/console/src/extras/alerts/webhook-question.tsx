import type { JSX } from 'preact'
import { Question } from '../../ui/question.tsx'
import { useAlertsWords } from './words.ts'

interface QuestionProps {
  readonly of: 'rotate' | 'remove'
  readonly isBusy: boolean
  onYes(): Promise<void>
  onNo(): void
}

/** Asks before a change that receivers have to follow, or that ends their messages. */
export function WebhookQuestion({ of, isBusy, onYes, onNo }: QuestionProps): JSX.Element {
  const alerts = useAlertsWords()
  return (
    <Question
      title={of === 'rotate' ? alerts.rotateTitle : alerts.removeTitle}
      about={of === 'rotate' ? alerts.rotateAbout : alerts.removeAbout}
      yes={alerts[of]}
      isDangerous={of === 'remove'}
      isBusy={isBusy}
      onYes={onYes}
      onNo={onNo}
    />
  )
}
