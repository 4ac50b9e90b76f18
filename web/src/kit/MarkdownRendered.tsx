import ReactMarkdown from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";

export default function MarkdownRendered({ text }: { text: string }) {
  return (
    <ReactMarkdown
      remarkPlugins={[remarkGfm]}
      rehypePlugins={[rehypeSanitize]}
      skipHtml
      components={{
        // A picture of elsewhere would tell who reads this, and when.
        img: ({ src, alt }) => (
          <a
            href={typeof src === "string" ? src : undefined}
            rel="noreferrer noopener"
            target="_blank"
          >
            {alt || "picture"}
          </a>
        ),
        a: ({ href, children }) => (
          <a href={href} rel="noreferrer noopener" target="_blank">
            {children}
          </a>
        ),
        input: (props) => <input {...props} aria-label={props.checked ? "done" : "not done"} />,
        // What scrolls must be reached by keys.
        pre: ({ children }) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: as said
          <pre tabIndex={0}>{children}</pre>
        ),
        // Headings of a text stand below those of the page.
        h1: ({ children }) => <h3>{children}</h3>,
        h2: ({ children }) => <h4>{children}</h4>,
        h3: ({ children }) => <h5 className="font-semibold">{children}</h5>,
      }}
    >
      {text}
    </ReactMarkdown>
  );
}
