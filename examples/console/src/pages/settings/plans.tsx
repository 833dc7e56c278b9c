import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { Cell } from '../../form/axes.ts'
import { EditorValue } from '../../form/editor-field.tsx'
import type { Editor } from '../../form/use-editor.ts'
import { hrefOf } from '../../route.ts'
import { usePolicy } from '../../session.ts'
import { Field } from '../../ui/field.tsx'
import { Scroll } from '../../ui/scroll.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { WindowsHead } from '../../ui/windows-head.tsx'
import { useNames } from '../../words/names.ts'
import { useWords } from '../../words/words.ts'
import { PLANS, planCells, planPath, plansOf } from './rule-fields.ts'
import { settingName } from './setting-name.ts'

export function Plans({ editor }: { editor: Editor }): JSX.Element {
  const { settings } = useWords()
  const plans = plansOf(editor.draft)
  return (
    <section aria-labelledby="plans">
      <h2 id="plans">{settings.plans}</h2>
      <p class="quiet">{settings.plansAbout}</p>
      {plans.map((plan) => (
        <PlanTable
          key={plan}
          editor={editor}
          plan={plan}
          onRemove={() => editor.set(PLANS, plans.filter((each) => each !== plan).join(' '))}
        />
      ))}
      <AddPlan plans={plans} onAdd={(plan) => editor.set(PLANS, [...plans, plan].join(' '))} />
    </section>
  )
}

function AddPlan({ plans, onAdd }: { plans: readonly string[]; onAdd(plan: string): void }): JSX.Element {
  const { settings } = useWords()
  const [name, setName] = useDraft(hrefOf('settings'), 'plan', '', (text) => text !== '')
  const isGood = /^[A-Za-z0-9_-]{1,32}$/.test(name) && !plans.includes(name)
  const add = (): void => {
    if (!isGood) return
    onAdd(name)
    setName('')
  }
  return (
    <>
      <Field label={settings.planName} fault={name === '' || isGood ? undefined : settings.planFault}>
        {(props) => (
          <input
            {...props}
            autocomplete="off"
            spellcheck={false}
            maxLength={32}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              // Enter would save the settings.
              event.preventDefault()
              add()
            }}
          />
        )}
      </Field>
      <p class="buttons">
        <button type="button" disabled={!isGood} onClick={add}>
          {settings.addPlan}
        </button>
      </p>
    </>
  )
}

interface PlanProps {
  readonly editor: Editor
  readonly plan: string
  onRemove(): void
}

function PlanTable({ editor, plan, onRemove }: PlanProps): JSX.Element {
  const { settings } = useWords()
  const names = useNames()
  const policy = usePolicy()
  const heading = useId()
  const cells = planCells(policy)
  const labels = [...new Set(cells.map(({ window }) => window))]
  const groups = [...new Set(cells.map(({ layer, category }) => `${layer} ${category}`))]
  const cellAt = (group: string, label: string): Cell | undefined =>
    cells.find(({ layer, category, window }) => `${layer} ${category}` === group && window === label)
  return (
    <div class="plan">
      <h3 id={heading}>{plan}</h3>
      <Scroll label={settings.planOf(plan)}>
        <table class="overrides" aria-labelledby={heading}>
          <WindowsHead labels={labels} />
          <tbody>
            {groups.map((group) => {
              const [layer = '', category = ''] = group.split(' ')
              return (
                <tr key={group}>
                  <th scope="row">
                    {names.layer(layer)} · {names.category(category)}
                  </th>
                  {labels.map((label) => (
                    <td key={label}>
                      <PlanCell editor={editor} plan={plan} cell={cellAt(group, label)} />
                    </td>
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </Scroll>
      <p class="buttons">
        <button type="button" class="danger" aria-label={settings.removePlanOf(plan)} onClick={onRemove}>
          {settings.removePlan}
        </button>
      </p>
    </div>
  )
}

interface PlanCellProps {
  readonly editor: Editor
  readonly plan: string
  /** `undefined` if the policy has no such limit. */
  readonly cell: Cell | undefined
}

function PlanCell({ editor, plan, cell }: PlanCellProps): JSX.Element | null {
  const words = useWords()
  const names = useNames()
  if (cell === undefined) return null
  const path = planPath(plan, cell)
  return (
    <EditorValue
      editor={editor}
      path={path}
      label={settingName(words, names, path)}
      placeholder={words.users.follows}
    />
  )
}
