/** The words of the race, in the languages of the page. */
export interface RaceWords {
  readonly title: string
  /** The title of a file of one's own. */
  readonly ownTitle: string
  readonly plimsoll: string
  readonly full: string
  readonly optimum: string
  readonly policy: string
  readonly now: string
  readonly bill: string
  readonly line: (tokens: string) => string
  readonly call: (call: string, of: string) => string
  /** What the chart shows of a single call. */
  readonly single: string
  /** Calls that were longer than the line. */
  readonly over: (calls: string, count: number) => string
  /** In the place of tokens, of a call that was not made. */
  readonly refused: string
  readonly refusals: (calls: string, count: number) => string
  readonly refusedMeans: string
  readonly play: string
  readonly pause: string
  readonly picture: string
  /** Where the recording is from. */
  readonly source: string
  readonly own: (name: string, messages: string) => string
  /** The rest of it was not played. */
  readonly first: (messages: string) => string
  readonly assumed: (dollars: string, line: string) => string
  /** What is in no bill. */
  readonly uncounted: string
  readonly optimumMeans: string
  readonly drop: string
  readonly choose: string
  readonly stays: string
  readonly working: string
  readonly back: string
  readonly nothing: (name: string) => string
}

const en: RaceWords = {
  title: 'One recorded conversation, sent three ways',
  ownTitle: 'Your conversation, sent three ways',
  plimsoll: 'Plimsoll',
  full: 'Send everything',
  optimum: 'The optimum',
  policy: 'What is sent',
  now: 'This call',
  bill: 'Bill so far',
  line: (tokens) => `the line: ${tokens} tokens`,
  call: (call, of) => `Call ${call} of ${of}`,
  single: 'One call makes no curve: each line shows what that call sends.',
  over: (calls, count) => `${calls} ${count === 1 ? 'call' : 'calls'} over the line`,
  refused: 'Refused',
  refusals: (calls, count) => `${calls} ${count === 1 ? 'call' : 'calls'} refused: nothing was sent`,
  refusedMeans:
    'A message that does not fit under the line is refused: nothing is sent, so that call is in no bill of Plimsoll and the optimum.',
  play: 'Play',
  pause: 'Pause',
  picture: 'Save as a picture',
  source:
    'A conversation of a coding agent, 466 messages, recorded by others (github.com/marot/spotter, MIT).',
  own: (name, messages) => `${name}, ${messages} messages.`,
  first: (messages) => `Only its first ${messages} messages are played.`,
  assumed: (dollars, line) =>
    `Tokens are estimates. A million tokens of input at ${dollars}, from the cache at a tenth, into it at 1.25 times. The line at ${line}.`,
  uncounted: 'Replies are not counted.',
  optimumMeans:
    'The optimum knows the whole conversation in advance and shows at each call at least what Plimsoll shows, up to a quarter of the line.',
  drop: 'Drop your own export here: ChatGPT, Claude, OpenAI or Anthropic JSONL.',
  choose: 'Choose an export',
  stays: 'It stays in this page: nothing is sent, nothing is kept.',
  working: 'It is being played …',
  back: 'Back to the recording',
  nothing: (name) =>
    `No conversation was found in ${name}. Nothing was sent or kept; the one from before still shows.`,
}

const de: RaceWords = {
  title: 'Eine aufgezeichnete Unterhaltung, auf drei Arten gesendet',
  ownTitle: 'Ihre Unterhaltung, auf drei Arten gesendet',
  plimsoll: 'Plimsoll',
  full: 'Alles senden',
  optimum: 'Das Optimum',
  policy: 'Was gesendet wird',
  now: 'Dieser Aufruf',
  bill: 'Kosten bisher',
  line: (tokens) => `die Linie: ${tokens} Token`,
  call: (call, of) => `Aufruf ${call} von ${of}`,
  single: 'Ein Aufruf hat keinen Verlauf: Jede Linie zeigt, was dieser Aufruf sendet.',
  over: (calls, count) => `${calls} ${count === 1 ? 'Aufruf' : 'Aufrufe'} über der Linie`,
  refused: 'Abgelehnt',
  refusals: (calls, count) => `${calls} ${count === 1 ? 'Aufruf' : 'Aufrufe'} abgelehnt: nichts gesendet`,
  refusedMeans:
    'Eine Nachricht, die nicht unter die Linie passt, wird abgelehnt: Nichts wird gesendet, und der Aufruf steht bei Plimsoll und beim Optimum in keiner Rechnung.',
  play: 'Abspielen',
  pause: 'Anhalten',
  picture: 'Als Bild speichern',
  source:
    'Eine Unterhaltung eines Programmieragenten, 466 Nachrichten, von anderen aufgezeichnet (github.com/marot/spotter, MIT).',
  own: (name, messages) => `${name}, ${messages} Nachrichten.`,
  first: (messages) => `Nur die ersten ${messages} Nachrichten werden gespielt.`,
  assumed: (dollars, line) =>
    `Token sind geschätzt. Eine Million Token Eingabe zu ${dollars}, aus dem Cache zu einem Zehntel, in ihn zum 1,25-Fachen. Die Linie bei ${line}.`,
  uncounted: 'Antworten zählen nicht mit.',
  optimumMeans:
    'Das Optimum kennt die ganze Unterhaltung im Voraus und zeigt bei jedem Aufruf mindestens, was Plimsoll zeigt, bis zu einem Viertel der Linie.',
  drop: 'Legen Sie Ihren eigenen Export hier ab: ChatGPT, Claude, OpenAI oder Anthropic als JSONL.',
  choose: 'Export wählen',
  stays: 'Er bleibt in dieser Seite: Nichts wird gesendet, nichts behalten.',
  working: 'Wird gespielt …',
  back: 'Zurück zur Aufzeichnung',
  nothing: (name) =>
    `In ${name} wurde keine Unterhaltung gefunden. Nichts wurde gesendet oder behalten; das vorige ist noch zu sehen.`,
}

const fr: RaceWords = {
  title: 'Une conversation enregistrée, envoyée de trois façons',
  ownTitle: 'Votre conversation, envoyée de trois façons',
  plimsoll: 'Plimsoll',
  full: 'Tout envoyer',
  optimum: 'L’optimum',
  policy: 'Ce qui est envoyé',
  now: 'Cet appel',
  bill: 'Facture jusqu’ici',
  line: (tokens) => `la ligne : ${tokens} jetons`,
  call: (call, of) => `Appel ${call} sur ${of}`,
  single: 'Un seul appel n’a pas de cours : chaque trait montre ce que cet appel envoie.',
  over: (calls, count) => `${calls} ${count === 1 ? 'appel' : 'appels'} au-delà de la ligne`,
  refused: 'Refusé',
  refusals: (calls, count) =>
    `${calls} ${count === 1 ? 'appel refusé' : 'appels refusés'} : rien n’a été envoyé`,
  refusedMeans:
    'Un message qui ne tient pas sous la ligne est refusé : rien n’est envoyé, et cet appel n’est compté ni pour Plimsoll ni pour l’optimum.',
  play: 'Lire',
  pause: 'Suspendre',
  picture: 'Enregistrer l’image',
  source:
    'Une conversation d’un agent de programmation, 466 messages, enregistrée par d’autres (github.com/marot/spotter, MIT).',
  own: (name, messages) => `${name}, ${messages} messages.`,
  first: (messages) => `Seuls ses ${messages} premiers messages sont joués.`,
  assumed: (dollars, line) =>
    `Les jetons sont estimés. Un million de jetons en entrée à ${dollars}, un dixième depuis le cache, 1,25 fois pour l’écrire. La ligne à ${line}.`,
  uncounted: 'Les réponses ne sont pas comptées.',
  optimumMeans:
    'L’optimum connaît d’avance toute la conversation et montre à chaque appel au moins ce que montre Plimsoll, jusqu’à un quart de la ligne.',
  drop: 'Déposez ici votre propre export : ChatGPT, Claude, OpenAI ou Anthropic en JSONL.',
  choose: 'Choisir un export',
  stays: 'Il reste dans cette page : rien n’est envoyé, rien n’est conservé.',
  working: 'Lecture en cours …',
  back: 'Revenir à l’enregistrement',
  nothing: (name) =>
    `Aucune conversation dans ${name}. Rien n’a été envoyé ni conservé ; la précédente reste affichée.`,
}

const es: RaceWords = {
  title: 'Una conversación grabada, enviada de tres formas',
  ownTitle: 'Su conversación, enviada de tres formas',
  plimsoll: 'Plimsoll',
  full: 'Enviar todo',
  optimum: 'El óptimo',
  policy: 'Qué se envía',
  now: 'Esta llamada',
  bill: 'Factura hasta ahora',
  line: (tokens) => `la línea: ${tokens} tokens`,
  call: (call, of) => `Llamada ${call} de ${of}`,
  single: 'Una sola llamada no tiene curso: cada línea muestra lo que envía esa llamada.',
  over: (calls, count) => `${calls} ${count === 1 ? 'llamada' : 'llamadas'} por encima de la línea`,
  refused: 'Rechazada',
  refusals: (calls, count) =>
    `${calls} ${count === 1 ? 'llamada rechazada' : 'llamadas rechazadas'}: no se envió nada`,
  refusedMeans:
    'Un mensaje que no cabe bajo la línea se rechaza: no se envía nada, y esa llamada no cuenta en la factura de Plimsoll ni en la del óptimo.',
  play: 'Reproducir',
  pause: 'Pausar',
  picture: 'Guardar como imagen',
  source:
    'Una conversación de un agente de programación, 466 mensajes, grabada por otros (github.com/marot/spotter, MIT).',
  own: (name, messages) => `${name}, ${messages} mensajes.`,
  first: (messages) => `Solo se reproducen sus primeros ${messages} mensajes.`,
  assumed: (dollars, line) =>
    `Los tokens son estimados. Un millón de tokens de entrada a ${dollars}, desde la caché a una décima parte, hacia ella a 1,25 veces. La línea en ${line}.`,
  uncounted: 'Las respuestas no se cuentan.',
  optimumMeans:
    'El óptimo conoce de antemano toda la conversación y muestra en cada llamada al menos lo que muestra Plimsoll, hasta un cuarto de la línea.',
  drop: 'Suelte aquí su propia exportación: ChatGPT, Claude, OpenAI o Anthropic en JSONL.',
  choose: 'Elegir una exportación',
  stays: 'Se queda en esta página: no se envía ni se guarda nada.',
  working: 'Reproduciendo …',
  back: 'Volver a la grabación',
  nothing: (name) =>
    `No hay ninguna conversación en ${name}. No se envió ni se guardó nada; la anterior sigue a la vista.`,
}

const ar: RaceWords = {
  title: 'محادثة مسجّلة واحدة، أُرسلت بثلاث طرق',
  ownTitle: 'محادثتك، أُرسلت بثلاث طرق',
  plimsoll: 'Plimsoll',
  full: 'إرسال كل شيء',
  optimum: 'الحد الأمثل',
  policy: 'ما يُرسل',
  now: 'هذا الاستدعاء',
  bill: 'الكلفة حتى الآن',
  line: (tokens) => `الخط: ${tokens} رمز`,
  call: (call, of) => `الاستدعاء ${call} من ${of}`,
  single: 'استدعاء واحد لا مسار له: كل خط يبيّن ما يرسله هذا الاستدعاء.',
  over: (calls) => `استدعاءات فوق الخط: ${calls}`,
  refused: 'مرفوض',
  refusals: (calls) => `استدعاءات مرفوضة: ${calls}، لم يُرسل شيء`,
  refusedMeans:
    'الرسالة التي لا يتسع لها ما تحت الخط تُرفض: لا يُرسل شيء، فلا يُحسب ذلك الاستدعاء في كلفة Plimsoll ولا الحد الأمثل.',
  play: 'تشغيل',
  pause: 'إيقاف مؤقت',
  picture: 'حفظ كصورة',
  source: 'محادثة وكيل برمجة من 466 رسالة سجّلها آخرون (github.com/marot/spotter، رخصة MIT).',
  own: (name, messages) => `${name}، عدد الرسائل: ${messages}.`,
  first: (messages) => `تُشغَّل أول ${messages} رسالة منها فقط.`,
  assumed: (dollars, line) =>
    `الرموز تقديرية. مليون رمز إدخال بسعر ${dollars}، ومن الذاكرة المخبّأة بعُشره، وإليها بـ 1.25 ضعفه. الخط عند ${line}.`,
  uncounted: 'لا تُحسب الردود.',
  optimumMeans:
    'الحد الأمثل يعرف المحادثة كلها مسبقًا، ويعرض في كل استدعاء على الأقل ما يعرضه Plimsoll حتى ربع الخط.',
  drop: 'أفلت ملفك المصدَّر هنا: ChatGPT أو Claude أو OpenAI أو Anthropic بصيغة JSONL.',
  choose: 'اختيار ملف مصدَّر',
  stays: 'يبقى في هذه الصفحة: لا يُرسل شيء ولا يُحفظ شيء.',
  working: 'جارٍ التشغيل …',
  back: 'العودة إلى التسجيل',
  nothing: (name) => `لم يُعثر على محادثة في ${name}. لم يُرسل شيء ولم يُحفظ شيء، وما زالت السابقة معروضة.`,
}

const ja: RaceWords = {
  title: '記録された一つの会話を、三つの方法で送る',
  ownTitle: 'あなたの会話を、三つの方法で送る',
  plimsoll: 'Plimsoll',
  full: 'すべて送る',
  optimum: '最適',
  policy: '送るもの',
  now: 'この呼び出し',
  bill: 'ここまでの料金',
  line: (tokens) => `ライン：${tokens} トークン`,
  call: (call, of) => `呼び出し ${call} / ${of}`,
  single: '呼び出しは一回だけなので推移はありません。各線はその呼び出しが送る量です。',
  over: (calls) => `${calls} 回ラインを超過`,
  refused: '拒否',
  refusals: (calls) => `${calls} 回拒否、送信なし`,
  refusedMeans:
    'ラインの下に収まらないメッセージは拒否されます。何も送らないため、その呼び出しは Plimsoll と最適の料金に入りません。',
  play: '再生',
  pause: '一時停止',
  picture: '画像として保存',
  source: 'プログラミングエージェントの会話、メッセージ 466 件（github.com/marot/spotter、MIT）。',
  own: (name, messages) => `${name}、メッセージ ${messages} 件。`,
  first: (messages) => `最初の ${messages} 件だけを再生します。`,
  assumed: (dollars, line) =>
    `トークン数は推定です。入力 100 万トークンあたり ${dollars}、キャッシュからは 10 分の 1、キャッシュへは 1.25 倍。ラインは ${line}。`,
  uncounted: '返信は料金に含みません。',
  optimumMeans:
    '最適は会話全体を前もって知り、各呼び出しで Plimsoll が見せる分以上を、ラインの 4 分の 1 まで見せます。',
  drop: '自分のエクスポートをここにドロップ：ChatGPT、Claude、OpenAI、Anthropic の JSONL。',
  choose: 'エクスポートを選ぶ',
  stays: 'このページの中だけで扱います。何も送らず、何も残しません。',
  working: '再生しています …',
  back: '記録に戻る',
  nothing: (name) =>
    `${name} に会話が見つかりません。何も送らず残していません。前のものが表示されたままです。`,
}

const catalogue: Readonly<Record<string, RaceWords>> = { en, de, fr, es, ar, ja }

/** @param language one of the page */
export function raceWords(language: string): RaceWords {
  return catalogue[language] ?? en
}
