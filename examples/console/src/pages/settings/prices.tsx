import type { JSX } from 'preact'
import { EditorValue } from '../../form/editor-field.tsx'
import type { Editor } from '../../form/use-editor.ts'
import { usePolicy } from '../../session.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'

export function Prices({ editor }: { editor: Editor }): JSX.Element {
  const words = useWords()
  const { categories } = usePolicy()
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">{words.settings.prices}</h2>
      <p class="quiet">{words.settings.pricesAbout}</p>
      <div class="columns">
        {categories.map((category) => (
          <PriceTable key={category} editor={editor} category={category} />
        ))}
      </div>
    </section>
  )
}

function PriceTable({ editor, category }: { editor: Editor; category: string }): JSX.Element {
  const words = useWords()
  const names = useNames()
  const operations = Object.entries(usePolicy().operations).filter(([, of]) => of.category === category)
  return (
    <table class="prices">
      <caption>{names.category(category)}</caption>
      <thead>
        <tr>
          <th scope="col">{words.settings.operation}</th>
          <th scope="col" class="number">
            {words.settings.defaultPrice}
          </th>
          <th scope="col">{words.settings.price}</th>
        </tr>
      </thead>
      <tbody>
        {operations.map(([name, { cost }]) => (
          <PriceRow key={name} editor={editor} name={name} cost={cost} />
        ))}
      </tbody>
    </table>
  )
}

function PriceRow({ editor, name, cost }: { editor: Editor; name: string; cost: number }): JSX.Element {
  const words = useWords()
  const { number } = useFormats()
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td class="number">{number(cost)}</td>
      <td>
        <EditorValue
          editor={editor}
          path={`prices.${name}`}
          label={words.settings.priceOf(name)}
          placeholder={number(cost)}
        />
      </td>
    </tr>
  )
}
