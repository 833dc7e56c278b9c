import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { User, Versioned } from '../../api/api.ts'
import { ApiError } from '../../api/api-error.ts'
import { goTo, hrefOf } from '../../route.ts'
import { useApi, useDrafts } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { useWords } from '../../words/words.ts'
import { lastList } from './last-list.ts'

type Step = 'disable' | 'enable' | 'remove'

interface AccountProps {
  readonly user: Versioned<User>
  onChanged(user: Versioned<User>): void
  /** The shown user is out of date. */
  onStale(): void
}

export function Account({ user, onChanged, onStale }: AccountProps): JSX.Element {
  const { users: words } = useWords()
  const api = useApi()
  const drafts = useDrafts()
  const [step, setStep] = useState<Step>()
  const { id, disabled } = user.document

  const act = async (chosen: Step): Promise<void> => {
    try {
      if (chosen === 'remove') await api.removeUser(id, user.etag)
      else onChanged(await api.changeUser(id, { disabled: chosen === 'disable' }, user.etag))
    } catch (fault) {
      if (fault instanceof ApiError && fault.code === 'precondition_failed') onStale()
      throw fault
    }
    if (chosen !== 'remove') return
    drafts.forget(hrefOf('users', id))
    goTo(lastList(), { isReplacing: true })
  }

  return (
    <section aria-labelledby="account">
      <h2 id="account">{words.account}</h2>
      <p class="quiet small">{disabled ? words.isDisabled : words.isEnabled}</p>
      <p class="buttons">
        {disabled ? (
          <button type="button" onClick={() => setStep('enable')}>
            {words.enable}
          </button>
        ) : (
          <button type="button" class="danger" onClick={() => setStep('disable')}>
            {words.disable}
          </button>
        )}
        <button type="button" class="danger" onClick={() => setStep('remove')}>
          {words.remove}
        </button>
      </p>
      {step !== undefined && (
        <Confirm
          title={words.accountQuestion[step].title(id)}
          about={words.accountQuestion[step].about}
          yes={words.accountQuestion[step].yes}
          isHarmless={step === 'enable'}
          act={() => act(step)}
          onClose={() => setStep(undefined)}
        />
      )}
    </section>
  )
}
