import type { JSX } from 'preact'
import type { Editor } from '../../form/use-editor.ts'
import { useApi, usePolicy } from '../../session.ts'
import { Field } from '../../ui/field.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'

/** Which plan a user has; a plan that no longer exists is still shown. */
export function PlanField({ editor }: { editor: Editor }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const { plans } = usePolicy()
  const settings = useResource(() => api.settings(), [api])
  const [stored, draft] = [editor.stored?.fields.plan ?? '', editor.draft.plan ?? '']
  const known = [...plans, ...Object.keys(settings.data?.document.plans ?? {}), stored, draft]
  return (
    <Field label={words.users.plan}>
      {(props) => (
        <select
          {...props}
          class={editor.changed.includes('plan') ? 'changed' : ''}
          value={draft}
          onChange={(event) => editor.set('plan', event.currentTarget.value)}
        >
          <option value="">{words.users.noPlan}</option>
          {[...new Set(known)]
            .filter((plan) => plan !== '')
            .map((plan) => (
              <option key={plan} value={plan}>
                {plan}
              </option>
            ))}
        </select>
      )}
    </Field>
  )
}
