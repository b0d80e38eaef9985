import { partsOf, textOf } from '../../kernel/log/message.ts'
import type { Message } from '../../ports/message.ts'
import { codePoints } from '../text/code-points.ts'
import { sentences } from '../text/sentences.ts'
import { visible } from '../text/visible.ts'
import { isTrusted } from '../trust.ts'
import { folded, pattern } from './rules/rules.ts'

/** Code points of a message that somebody typed to say one thing. */
const LONGEST = 280
const MOST_SENTENCES = 3

/**
 * All that a plain statement is written with: no quotation marks, brackets, dashes between clauses,
 * marks of lists, of code or of markup, and one line.
 */
const PLAIN =
  /^(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Emoji_Modifier} .,!?¡¿'’()%&/+:;…€$£¥°#_。、！？，：・ー〜،؛؟٪\u3000\u00A0\u202F-]|\uFE0F|\p{Extended_Pictographic}\u200D)*$/u
/** Quotation by single marks, clauses after dashes, lists, comments, headings, pages' addresses. */
const SHAPED =
  /(?:^|\s)['‘]|\s-+\s|--|^\s*[-•+#・]|^\s*\d+[.)]\s|\/\/|(?:^|\s)#\s|\p{Ll}[.!?:;]\p{Lu}|;\s*$|\p{L}\.\p{L}{2}/u
/** What goes on in the next message has no end of its own. */
const ENDED = /[.!。！]\s*$/u
/** A short question about what was said just now. */
const OF_THAT =
  /^(?:\S+\s+){0,6}?\S*\b(?:this|that|it|das|dies|davon|ca|cela|ceci|eso|esto|questo|cio|isso|isto)\b[^?]*\?\s*$/u
/** What may stand before a colon in a statement; times of day have no space after theirs. */
const COLON = /[:：](?!\d)/u
const MARKER =
  /^(?:(?:please|ok(?:ay)?|no|bitte|por favor|per favore|s'il te plait|s'il vous plait|stp)[,.]?\s+)?(?:(?:please )?(?:remember|note|keep in mind)(?: this| that)?|important|rule|correction|decided|from now on|fyi|one more thing|merke? dir(?: bitte)?|denke? daran|wichtig|regel|korrektur|hinweis|ab jetzt|retiens|souviens-toi|note|regle|rappel|desormais|recuerda|regla|nota|importante|correccion|a partir de ahora|ricorda|regola|correzione|lembre-se|regra|correcao|anote|覚えて(?:おいて)?(?:ください)?|訂正|重要|تصحيح|مهم|قاعدة|ملاحظة)$/u

const NOUN = String.raw`(?:e-?mails?|mails?|text[eo]?s?|messages?|mensajes?|mensage[mn]s?|messaggi[oe]?|nachricht(?:en)?|articles?|artikel|articulos?|artigos?|articol[oi]|pages?|seite|paginas?|pagina|webseite|website|web|document\w*|dokument\w*|letters?|brief|lettre|carta|lettera|notes?|notiz|paragraph\w*|absatz|parrafo|paragrafo|quote|zitat|snippet|code|codigo|codice|logs?|chat|thread|posts?|comments?|commentaire|kommentar\w*|comentarios?|comment[oi]|prompts?|pastes?|correos?|courriels?|pdfs?|jsons?|bericht|report|rapport|transcript|instructions?|anweisung\w*|instrucciones|istruzioni|instrucoes|answer|reply|subject|content)`
const THIS =
  '(?:this|that|these|those|diese[rnms]?|cet?|cette|ces|est[aeo]s?|quest[oaie]|iss[oe]|ist[oe]|ess[ea]s?)'
const POLITE = String.raw`^(?:(?:hi|hello|hey|hallo|bonjour|hola|ciao|ola)\b[,!]?\s+)?(?:(?:please|can you|could you|would you|will you|i want you to|i need you to|help me(?: to)?|bitte|kannst du|konntest du|s'il te plait|s'il vous plait|peux-tu|pouvez-vous|por favor|puedes|podrias|per favore|puoi|potresti|pode|voce pode|poderia)\b[,:]?\s+(?:(?:please|me|mir|mal|bitte|to)\s+)*)?`
/** A standing order is no request for now. */
const NOW = String.raw`(?!\S*\s+(?:\S+\s+){0,2}?(?:always|never|immer|nie|niemals|toujours|jamais|siempre|nunca|sempre|mai)\b)`
const TASK = String.raw`(?:summari[sz]|sum up\b|translat|rewrit|rephras|paraphras|proofread|explain|analy[sz]|review|check|correct\b|edit\b|shorten|improve|read\b|look at\b|convert|classify|extract|(?:reply|respond) to\b|answer (?:this|the|to)\b|draft a reply|what (?:does|do|is|are|did)\b|here(?:'s| is| are| it| you| comes)\b|see\b|fwd?\b|re\b|tl;?dr|fass\w* .*zusammen|zusammenfass|ubersetz|erklar|korrigier|pruf|lies\b|analysier|uberarbeit|formulier|kurz|verbesser|antworte? auf\b(?!\s+(?:deutsch|englisch|franz|span|ital|port))|beantwort|hier (?:ist|sind|kommt|der|die|das)\b|was (?:bedeutet|heisst|steht|ist)\b|resum|tradui|expliqu|corrig|relis|analys|reformul|lis\b|lisez|verifi|repond\w* (?:a|au) (?:ce|cet|cette|l)\b|voici|voila|que (?:veut|signifie)\b|traduc|traduz|explic|analiz|lee\b|reescrib|(?:responde|contesta) a (?:est|la|el)|aqui (?:esta|tienes|va|tiene)\b|que (?:significa|dice)\b|riassum|spieg|correg|controll|analizz|leggi|riscriv|rispondi a (?:quest|all)|ecco\b|(?:che )?cosa (?:significa|dice|vuol)\b|corrij|revis|leia|reescrev|aqui esta|segue\b|eis\b|o que (?:significa|diz)\b|要約|翻訳|訳し|添削|校正|لخص|ترجم|اشرح|صحح|راجع|اليك\b|فيما يلي)`
const PASTING = String.raw`(?:past(?:e|es|ed|ing)|forward(?:ed|ing)?|attached|below|above|following|next message|quoted?|einfug\w*|eingefugt\w*|weitergeleitet\w*|leite .* weiter|angehangt\w*|folgend\w*|nachste nachricht|unten|oben|anbei|colle[rz]?|ci-dessous|ci-dessus|ci-joint\w*|suivante?s?|transfere\w*|pego|pegar|pegado|siguientes?|adjunt\w*|a continuacion|reenvi\w*|abajo|arriba|incoll\w*|seguente|seguenti|allegat\w*|inoltr\w*|di seguito|sotto|sopra|colar|colei|seguintes?|anex\w*|abaixo|acima|encaminh\w*)`

/** Asks to do something with a text, points to one, or says that one comes. */
const OF_A_TEXT = pattern(
  POLITE + NOW + TASK,
  String.raw`\b${THIS}\s+(?:\S+\s+){0,2}?${NOUN}\b`,
  String.raw`\b(?:the|der|die|das|den|le|la|el|il|lo|o|a|l')\s*${NOUN}\s*[:：]?\s*$`,
  String.raw`\b${PASTING}\b`,
  String.raw`\b(?:got|received|bekommen|erhalten|recu|recibi\w*|ricevut\w*|recebi)\s+(?:\S+\s+){0,3}?${NOUN}\b`,
  '(?:次の|以下の|下記|この(?:メール|文章|文|記事|ページ|テキスト|メッセージ|コード)|貼り|転送|引用|添付|要約して|翻訳して|訳して)',
  '(?:هذا|هذه)\\s+(?:ال)?(?:نص|بريد|رساله?ة?|مقال|صفحة|وثيقة|مستند)|(?:النص|الرسالة|المقال)\\s+التالي|التالي|ألصق|الصق|ملصق',
)
/** Says that a text is awaited. */
const ASKS_FOR_TEXT = new RegExp(
  String.raw`\b(?:paste|send|share|provide|upload|show|give|drop|fuge?n?|schicke?n?|sende?n?|teile?n?|zeige?n?|kopiere?n?|collez?|envoyez?|envoie|partagez?|montrez?|pega\w*|envi[ae]\w*|comparte|manda\w*|pasa\w*|incolla\w*|invia\w*|condividi|cole|cola|envie|compartilhe|mande)\b.{0,40}\b(?:${NOUN}|it|ihn|sie|es|here|hier|ici|aqui|qui)\b|\bgo ahead\b|貼り付けて|送って|共有して|(?:أرسل|الصق|شارك)`,
  'u',
)
const ANY_TEXT = new RegExp(String.raw`\b${NOUN}\b`, 'u')

/** Greetings and thanks. */
const ASIDE =
  /^(?:(?:hello|hi|hey|good (?:morning|evening|afternoon)|thanks|thank you|many thanks|cheers|please|ok(?:ay)?|great|perfect|got it|hallo|guten (?:morgen|tag|abend)|danke|vielen dank|bitte|bonjour|salut|bonsoir|merci|hola|buen[oa]s (?:dias|tardes|noches)|(?:muchas )?gracias|ciao|buon(?:giorno|asera)|grazie|ola|bom dia|boa (?:tarde|noite)|(?:muito )?obrigad[oa]|こんにちは|ありがとう(?:ございます)?|(?:よろしく)?お願いします|مرحبا|شكرا)(?:\s+(?:there|you|again|everyone|so much|very much|a lot|in advance|schon|sehr|im voraus|beaucoup|d'avance|mille|de antemano|جزيلا))?[,.!。！\s]*)+$/u
/** What a person says of themselves; who is about to show a text speaks of doing something. */
const OWN_STATE =
  /^(?:(?:i'm|i am|we're|we are)\s+(?!\S+ing\b|about\b)|i have (?:a|an|no)\s+|i live in\s+|ich bin\s+(?!am\b|gerade\b)|ich habe (?:eine|keine?)\s+|ich wohne in\s+|je suis\s+(?!en train\b)|j'ai une?\s+|soy\s+|vivo in\s+|vivo en\s+|tengo\s+|sono\s+|sou\s+|tenho\s+|moro em\s+)(?:[\p{L}'-]+\s+){0,4}[\p{L}'-]+[.!]*$/u

/** Messages on either side that are looked at. */
const NEAR = 16

/**
 * The ids of messages that by their shape and by what stands around them are short statements of
 * their user's own. A text that was pasted has the user's label too, so in doubt a message is none.
 *
 * @param messages in the order in which they show
 */
export function typedAmong(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.flatMap((message, at) => (isTypedAt(messages, at) ? [message.id] : [])))
}

/** A sentence that a person may say beside a statement. */
export function isAside(sentence: string): boolean {
  const own = folded(sentence.trim())
  return ASIDE.test(own) || (OWN_STATE.test(own) && !ANY_TEXT.test(own))
}

function isTypedAt(messages: readonly Message[], at: number): boolean {
  const message = messages[at] as Message
  return isStatement(message) && !isAnnounced(messages, at) && !isMeantAfter(messages, at)
}

function isStatement(message: Message): boolean {
  if (message.role !== 'user' || !isTrusted(message.trust)) return false
  if (partsOf(message).length !== 1 || partsOf(message)[0]?.type !== 'text') return false
  const text = textOf(message).trim()
  return (
    text !== '' &&
    codePoints(text) <= LONGEST &&
    PLAIN.test(text) &&
    !SHAPED.test(text) &&
    visible(text.replaceAll('\u200D', '')) === text.replaceAll('\u200D', '') &&
    hasNoLead(text) &&
    sentences(text).length <= MOST_SENTENCES &&
    !speaksOfText(text)
  )
}

/** Whether nothing is led to by a colon, but what a person marks as to be remembered. */
function hasNoLead(text: string): boolean {
  const [lead = '', ...rest] = text.split(COLON)
  return rest.length === 0 || (rest.length === 1 && MARKER.test(folded(lead.trim())))
}

/** Whether one of the sentences is about a text. */
function speaksOfText(text: string): boolean {
  return sentences(text).some((sentence) => OF_A_TEXT.test(folded(sentence)))
}

/**
 * Whether what was said before leads to a text: by the user in the message before, or by the
 * assistant, who asks for one. A run of the user's messages is one of them.
 */
function isAnnounced(messages: readonly Message[], at: number): boolean {
  let isRun = true
  for (let index = at - 1; index >= Math.max(0, at - NEAR); index--) {
    const before = messages[index] as Message
    const text = textOf(before).trim()
    if (before.role === 'assistant') {
      if (!isRun) return false
      isRun = false
      if (asksForText(text)) return true
    }
    if (before.role !== 'user') continue
    if (isRun ? !isStatement(before) || !ENDED.test(text) : leadsOn(text)) return true
    if (!isRun) return false
  }
  return false
}

/** Whether the user says afterwards what to do with it. */
function isMeantAfter(messages: readonly Message[], at: number): boolean {
  for (const after of messages.slice(at + 1, at + 1 + NEAR))
    if (after.role === 'user') return pointsBack(textOf(after))
  return false
}

/** Whether a message ends before what it is about has begun, or says that it comes. */
function leadsOn(text: string): boolean {
  if (codePoints(text) > LONGEST) return false
  return /[:：…]\s*$/u.test(text) || (!COLON.test(text) && speaksOfText(text))
}

/** Whether a message is about a text that stands before it. */
function pointsBack(text: string): boolean {
  return (
    codePoints(text) <= LONGEST && !COLON.test(text) && (speaksOfText(text) || OF_THAT.test(folded(text)))
  )
}

function asksForText(text: string): boolean {
  return ASKS_FOR_TEXT.test(folded(text.slice(-2 * LONGEST)))
}
