"""Prints the template as CloudFormation gets it: parameters at their defaults, SAM's resources translated.

Run by the interpreter of `.tools/ministack`, which has SAM's translator; it takes no pydantic as new as the project's.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

CODE = "s3://bucket/key"
"""Stands for where SAM CLI puts the code when it packages."""


def translated(template: dict[str, Any]) -> dict[str, Any]:
    """The template with plain CloudFormation resources alone."""
    parameters = {name: one["Default"] for name, one in template["Parameters"].items() if "Default" in one}
    for resource in template["Resources"].values():
        for name in ("ContentUri", "DefinitionUri"):
            if name in resource.get("Properties", {}):
                resource["Properties"][name] = CODE
    template["Globals"]["Function"]["CodeUri"] = CODE
    return Translator({}, Parser()).translate(template, parameters)


if __name__ == "__main__":
    os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
    source = yaml_parse(Path(sys.argv[1]).read_text())
    json.dump({"source": yaml_parse(Path(sys.argv[1]).read_text()), "translated": translated(source)}, sys.stdout)
